/* One exec from the moment it is asked for to the end of what it started. */
#ifndef ASK_H
#define ASK_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "exec.h"
#include "watch.h"

enum kind { KIND_SOCKET, KIND_LISTENER, KIND_HANDLE };

/* What an event points to. */
struct source {
    enum kind kind;
    int fd;
    void *owner;
};

/* A command's filter, which lives as long as a process below it does. */
struct watch {
    struct watch *next;
    struct source socket, listener;
    struct watch_wish wish;
    uint32_t id;
    uint64_t seen, told;
    int open; /* asks that have no end yet */
    bool traced; /* by ptrace: there is no listener, */
    bool left;   /* and no process of it either */
    bool announce; /* its first exec is still to be told */
    bool first_asked;
    struct first first;
};

enum state { HELD, VERIFYING, RUNNING, REAPING };

/* An exec that the host was told of and whose end it was not told yet. */
struct ask {
    struct ask *next;
    struct source handle;
    struct watch *watch;
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
void ask_take(struct watch *watch);
/* The same for an exec that has happened, by ptrace; a `problem` kept it from being read. */
void ask_stopped(struct watch *watch, struct exec *exec, int problem);
void ask_allow(struct ask *ask);
void ask_refuse(struct ask *ask, int problem);
/* Its handle says that it has ended, or that its parent knows of it. */
void ask_ended(struct ask *ask);
/* It has ended, and its parent has still to take its status. */
void ask_await(struct ask *ask);
/* Tells the end and forgets it; the status is as wait gives it. */
void ask_end(struct ask *ask, uint32_t outcome, int status);

void first_free(struct first *first);
struct watch *watch_find(uint32_t id);
/* Its own program runs. */
void watch_begun(struct watch *watch);
/* Whether nothing is left of it that could exec. */
bool watch_is_left(const struct watch *watch);
/* Nothing of the command is left that could exec, and all ends have been told. */
void watch_over(struct watch *watch);

#endif
