#ifndef REQUEST_COUNTER_H
#define REQUEST_COUNTER_H

// Nothing is called from outside: the library works by being loaded.

#endif
