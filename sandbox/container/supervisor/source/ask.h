/* One exec from the moment it is asked for to the end of what it started. */
#ifndef ASK_H
#define ASK_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "exec.h"
#include "watch.h"

enum kind { KIND_SOCKET, KIND_LISTENER, KIND_HANDLE, KIND_DOOR, KIND_CLIENT, KIND_CHANNEL };

/* What an event points to. */
struct source {
    enum kind kind;
    int fd;
    void *owner;
};

/* A filter and what asks through it: the command, or a process of it that became root. */
struct listening {
    struct listening *next;
    struct source source;
    struct watch *watch;
    struct work *work; /* of a process that became root, whose first exec is decided on already */
    struct first first;
    bool asked; /* the first exec has come */
};

/* What is seen of a command, for as long as a process below it lives. */
struct watch {
    struct watch *next;
    struct source socket;
    int orders; /* to its shim */
    struct watch_wish wish;
    uint32_t id;
    uint64_t seen, told;
    int open; /* asks that have no end yet */
    struct listening *own, *listenings;
    bool traced, blind; /* by ptrace, or not at all: there is no listener, */
    bool left;          /* and no process of it either */
    bool announce; /* its first exec is still to be told */
};

enum state { HELD, GRANTED_TO_ROOT, VERIFYING, RUNNING, REAPING };

/* An exec that the host was told of and whose end it was not told yet. */
struct ask {
    struct ask *next;
    struct source handle;
    struct watch *watch;
    struct listening *listening; /* through which it is answered, NULL for none */
    struct work *work;           /* of one that is to be root */
    enum state state;
    uint64_t number, notification, started_us, ended_us;
    pid_t pid, thread;
    bool first; /* the command's own program */
    struct user user;
    struct expectation expected;
};

/* What is waited for, and a source of it: false where it cannot be. */
bool source_open(struct source *source, enum kind kind, int fd, void *owner);
void source_close(struct source *source);

extern struct ask *asks;
/* How many may have become another program than was approved. */
int asks_verifying(void);
void asks_verify(void);

/* Takes one notification and tells the host, or refuses it. */
void ask_take(struct listening *listening);
/* The same for an exec that has happened, by ptrace; a `problem` kept it from being read. */
void ask_stopped(struct watch *watch, struct exec *exec, int problem);
void ask_allow(struct ask *ask);
void ask_refuse(struct ask *ask, int problem);
/* Whether it has not run yet, for want of a decision or of its turn. */
bool ask_waits(const struct ask *ask);

/* ---- what is to be root ---- */

struct work;
/* Tells the host of it; NULL where there is no room. */
struct ask *ask_root(struct watch *watch, struct exec *exec, struct work *work);
/* It has been decided on: it goes on to its exec. */
void ask_grant(struct ask *ask);
/* The ask of a process that has been granted what it is about to run, NULL for none. */
struct ask *ask_granted(pid_t pid);
/* Its program has been loaded, and is the right one or not; by ptrace. */
void ask_settle(struct ask *ask, bool right);
/* Its request is over. */
void ask_root_ended(const struct work *work);
/* Its handle says that it has ended, or that its parent knows of it. */
void ask_ended(struct ask *ask);
/* It has ended, and its parent has still to take its status. */
void ask_await(struct ask *ask);
/* Tells the end and forgets it; the status is as wait gives it. */
void ask_end(struct ask *ask, uint32_t outcome, int status);

void first_free(struct first *first);
struct watch *watch_find(uint32_t id);
int watch_orders(const struct watch *watch);
/* Takes the listener of a process that is root. */
void listening_receive(struct watch *watch, int socket, struct work *work);
/* Its own program runs. */
void watch_begun(struct watch *watch);
/* Whether nothing is left of it that could exec. */
bool watch_is_left(const struct watch *watch);
/* Nothing of the command is left that could exec, and all ends have been told. */
void watch_over(struct watch *watch);

#endif
