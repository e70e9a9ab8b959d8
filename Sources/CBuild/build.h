#ifndef TRIBUTARY_CBUILD_H
#define TRIBUTARY_CBUILD_H

/* Facts that the manifest hands over as macros. */

#ifndef TRIBUTARY_COMMIT
#define TRIBUTARY_COMMIT ""
#endif

/* The commit that was built; empty if the build was not told. */
static inline const char *tributary_commit(void) { return TRIBUTARY_COMMIT; }

#endif
