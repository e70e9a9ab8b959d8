#ifndef TRIBUTARY_CUV_CRASH_H
#define TRIBUTARY_CUV_CRASH_H

/* The report of a crash: one line on standard error with the build's id and the addresses of the callers, which
   deploy/symbols turns into functions and lines. The process forbids core dumps, and a container has no debugger.

   The handler calls only functions that signal-safety(7) permits, and finds the callers by frame pointers, which Swift's
   code keeps. C libraries do not all keep them: then it searches the stack for the next frame that looks like one of Swift's, which may
   be left from a call that has returned, and writes a question mark before it. */

#if defined(__linux__) && (defined(__x86_64__) || defined(__aarch64__))

#include <elf.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

/* The most callers that are written. */
#define TRIBUTARY_CRASH_FRAMES 64

struct tributary_program {
    /* The id of the build in hexadecimal digits. */
    char build[2 * 20 + 1];
    /* By how much the system moved the program in memory. */
    uintptr_t base;
    /* Where its code is. */
    uintptr_t code_begin, code_end;
};

/* This program. A function holds it, because Swift does not import static variables of headers. */
static inline struct tributary_program *tributary_program(void)
{
    static struct tributary_program program;
    return &program;
}

/* The end of the part of the thread's stack that a report looks at; 0 in threads that have not called
   tributary_use_crash_stack. */
static inline uintptr_t *tributary_crash_stack_end(void)
{
    static _Thread_local uintptr_t end;
    return &end;
}

/* Writes a text, unless nothing reads standard error for a second: then the report is left out. */
static inline void tributary_crash_write(const char *text)
{
    static int is_stuck;
    struct pollfd output = {.fd = STDERR_FILENO, .events = POLLOUT};
    if (is_stuck || poll(&output, 1, 1000) <= 0) {
        is_stuck = 1;
        return;
    }
    ssize_t ignored = write(STDERR_FILENO, text, strlen(text));
    (void)ignored;
}

/* Writes a number in hexadecimal digits. */
static inline void tributary_crash_write_address(uintptr_t value)
{
    char text[2 * sizeof value + 4];
    char *at = text + sizeof text;
    *--at = 0;
    do {
        *--at = "0123456789abcdef"[value & 15];
        value >>= 4;
    } while (value != 0);
    *--at = 'x';
    *--at = '0';
    *--at = ' ';
    tributary_crash_write(at);
}

static inline const char *tributary_crash_name(int signal)
{
    switch (signal) {
    case SIGABRT: return "SIGABRT";
    case SIGBUS: return "SIGBUS";
    case SIGFPE: return "SIGFPE";
    case SIGILL: return "SIGILL";
    case SIGSEGV: return "SIGSEGV";
    default: return "SIGTRAP";
    }
}

/* Whether these are the two words that a function with a frame pointer saves: its caller's frame, and an address of code. */
static inline int tributary_is_frame(uintptr_t at, uintptr_t low, uintptr_t end)
{
    const struct tributary_program *program = tributary_program();
    if (at < low || at + 2 * sizeof at > end || at % sizeof at != 0) return 0;
    uintptr_t code = ((const uintptr_t *)at)[1];
    return code > program->code_begin && code < program->code_end;
}

/* Writes the addresses of the callers of a function, whose frames are between low and end. */
static inline void tributary_crash_write_callers(uintptr_t frame, uintptr_t low, uintptr_t end)
{
    for (int count = 0; count < TRIBUTARY_CRASH_FRAMES; count += 1) {
        if (!tributary_is_frame(frame, low, end)) {
            /* Not a frame, which is what C code without frame pointers leaves: two frames that refer to each other. */
            for (frame = low; frame + 2 * sizeof frame <= end; frame += sizeof frame) {
                if (tributary_is_frame(frame, low, end) && *(const uintptr_t *)frame > frame
                    && tributary_is_frame(*(const uintptr_t *)frame, frame, end)) break;
            }
            if (frame + 2 * sizeof frame > end) return;
            tributary_crash_write(" ?");
        }
        const uintptr_t *record = (const uintptr_t *)frame;
        tributary_crash_write_address(record[1] - tributary_program()->base);
        low = frame + 2 * sizeof frame;
        frame = record[0];
    }
}

static inline void tributary_crashed(int signal, siginfo_t *info, void *context)
{
    /* The first thread that crashes reports and ends the process; others wait for that. */
    static char is_reporting;
    if (__atomic_test_and_set(&is_reporting, __ATOMIC_SEQ_CST)) for (;;) pause();
    const ucontext_t *state = (const ucontext_t *)context;
#ifdef __x86_64__
    /* REG_RIP, REG_RBP and REG_RSP, which have names only for programs of GNU. */
    uintptr_t code = (uintptr_t)state->uc_mcontext.gregs[16];
    uintptr_t frame = (uintptr_t)state->uc_mcontext.gregs[10];
    uintptr_t low = (uintptr_t)state->uc_mcontext.gregs[15];
#else
    uintptr_t code = (uintptr_t)state->uc_mcontext.pc;
    uintptr_t frame = (uintptr_t)state->uc_mcontext.regs[29];
    uintptr_t low = (uintptr_t)state->uc_mcontext.sp;
#endif
    uintptr_t end = *tributary_crash_stack_end(), fault = (uintptr_t)info->si_addr;
    /* The stack is full: what lies up to the page of the access cannot be read. */
    if ((signal == SIGSEGV || signal == SIGBUS) && fault >= low && fault < end) low = (fault | 4095) + 1;
    tributary_crash_write("tributary: crash by ");
    tributary_crash_write(tributary_crash_name(signal));
    tributary_crash_write(", build ");
    tributary_crash_write(tributary_program()->build);
    tributary_crash_write(", at");
    tributary_crash_write_address(code - tributary_program()->base);
    tributary_crash_write_callers(frame, (low + 7) & ~(uintptr_t)7, end);
    tributary_crash_write("\n");
    /* The signal ends the process when the handler returns. */
    struct sigaction action = {.sa_handler = SIG_DFL};
    sigaction(signal, &action, NULL);
    raise(signal);
}

/* The id in the notes of a program header: see elf(5). */
static inline void tributary_crash_read_build(struct tributary_program *program, const unsigned char *at, const unsigned char *end)
{
    while (at + sizeof(Elf64_Nhdr) <= end) {
        const Elf64_Nhdr *note = (const Elf64_Nhdr *)at;
        const unsigned char *name = at + sizeof *note;
        const unsigned char *id = name + ((note->n_namesz + 3) & ~3u);
        if (note->n_type == NT_GNU_BUILD_ID && note->n_namesz == 4 && memcmp(name, "GNU", 4) == 0) {
            for (unsigned byte = 0; byte < note->n_descsz && byte < 20; byte += 1) {
                program->build[2 * byte] = "0123456789abcdef"[id[byte] >> 4];
                program->build[2 * byte + 1] = "0123456789abcdef"[id[byte] & 15];
            }
        }
        at = id + ((note->n_descsz + 3) & ~3u);
    }
}

/* The program headers say where the program is, and where its notes are. */
static inline void tributary_crash_read_program(void)
{
    const Elf64_Phdr *headers = (const Elf64_Phdr *)getauxval(AT_PHDR);
    struct tributary_program *program = tributary_program();
    unsigned long count = headers ? getauxval(AT_PHNUM) : 0;
    for (unsigned long index = 0; index < count; index += 1) {
        if (headers[index].p_type == PT_PHDR) program->base = (uintptr_t)headers - headers[index].p_vaddr;
    }
    for (unsigned long index = 0; index < count; index += 1) {
        const unsigned char *at = (const unsigned char *)(program->base + headers[index].p_vaddr);
        if (headers[index].p_type == PT_LOAD && headers[index].p_flags & PF_X) {
            if (program->code_begin == 0) program->code_begin = (uintptr_t)at;
            program->code_end = (uintptr_t)at + headers[index].p_memsz;
        }
        if (headers[index].p_type == PT_NOTE) tributary_crash_read_build(program, at, at + headers[index].p_memsz);
    }
}

/* Reports crashes from now on, unless something else handles them, for example Swift's backtracer or a sanitizer. */
static inline void tributary_report_crashes(void)
{
    static const int signals[] = {SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGSEGV, SIGTRAP};
    tributary_crash_read_program();
    struct sigaction report = {.sa_flags = SA_SIGINFO | SA_ONSTACK};
    report.sa_sigaction = tributary_crashed;
    sigfillset(&report.sa_mask);
    for (unsigned index = 0; index < sizeof signals / sizeof signals[0]; index += 1) {
        struct sigaction present;
        if (sigaction(signals[index], NULL, &present) == 0 && present.sa_handler == SIG_DFL)
            sigaction(signals[index], &report, NULL);
    }
}

/* A stack for the report of this thread's crash, which may be that its own stack is full. Its pages take no memory until
   then; it is released with the process. The callers of this function are not part of a report. */
static inline void tributary_use_crash_stack(void)
{
    *tributary_crash_stack_end() = (uintptr_t)__builtin_frame_address(0) & ~(uintptr_t)7;
    stack_t present;
    if (sigaltstack(NULL, &present) == 0 && !(present.ss_flags & SS_DISABLE)) return;
    stack_t stack = {.ss_size = 64 * 1024};
    stack.ss_sp = mmap(NULL, stack.ss_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (stack.ss_sp != MAP_FAILED) sigaltstack(&stack, NULL);
}

#else

static inline void tributary_report_crashes(void) {}
static inline void tributary_use_crash_stack(void) {}

#endif

#endif
