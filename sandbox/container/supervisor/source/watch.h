/* The commands whose execs are seen: what is wished of each, and the listeners of its filters. */
#ifndef WATCH_H
#define WATCH_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "exec.h"
#include "shim.h"
#include "source.h"

struct work;

struct watch_wish {
    bool log, hold, root;
    uint64_t limit; /* execs that the host is told of, those that it decides on not counted */
};

/* A filter and what asks through it: the command, or a process of it that became root. */
struct listening {
    struct listening *next;
    struct source source;
    struct watch *watch;
    struct first first;
    bool asked; /* the first exec has come */
};

/* What is seen of a command, for as long as a process below it lives. */
struct watch {
    struct watch *next;
    struct source socket;
    int orders; /* to its shim */
    pid_t shim; /* 0 before it is started and once it is reaped */
    struct watch_wish wish;
    uint32_t id;
    uint64_t seen, told;
    int open; /* asks that have no end yet */
    struct listening *own, *listenings;
    bool traced, blind; /* by ptrace, or not at all: there is no listener, */
    bool left;          /* and no process of it either */
    bool announce;      /* its first exec is still to be told */
    bool refused;       /* its own program was refused and killed: it has never run */
    bool over;          /* all has been told: it is to be closed when nobody uses it */
};

extern struct watch *watches;

/* How the execs that are wished for can be shown. */
void watch_choose(const struct watch_wish *wish, struct launch *launch);
/* Registers a command that is to be launched; NULL with errno. */
struct watch *watch_make(uint32_t id, const struct launch *launch, const struct watch_wish *wish);
/* Forgets a command of which nobody holds anything any more. */
void watch_close(struct watch *watch);
struct watch *watch_find(uint32_t id);
/* The command that a process belongs to, by the shim that it is below; NULL for none. */
struct watch *watch_of(pid_t pid);
/* Its own program runs. */
void watch_begun(struct watch *watch);
/* Whether nothing is left of it that could exec. */
bool watch_is_left(const struct watch *watch);
/* Tells the host how many execs there were; `over`: and that no more will be told. */
void watch_tell_count(const struct watch *watch, bool over);
/* Nothing of the command is left that could exec, and all ends have been told. */
void watch_is_over(struct watch *watch);
/* Nothing is waited for at its socket any more, but orders go there. */
void watch_keep_orders(struct watch *watch);

/* Takes the listener of a process that is root, whose `first` exec it takes over. */
void listening_receive(struct watch *watch, int socket, struct first *first,
                       source_handler *handler);
void listening_free(struct listening *listening);

#endif
