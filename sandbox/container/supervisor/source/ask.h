/* One exec from the moment it is asked for to the end of what it started. */
#ifndef ASK_H
#define ASK_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "exec.h"
#include "source.h"
#include "watch.h"

struct work;

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
    bool first;      /* the command's own program */
    bool git;        /* may move a branch: what is written below .git comes before its end */
    bool over;       /* it has ended, with this status, and is told next */
    bool leaves;     /* its process has asked to end with this status, */
    bool disputed;   /* or threads of it with several */
    int status;
    bool superseded; /* its process was seen to be about to run another one */
    struct user user;
    struct expectation expected;
};

extern struct ask *asks;
/* How many may have become another program than was approved. */
int asks_verifying(void);
void asks_verify(void);
/* Tells the ends of those that have ended and whose parents know of it: of gits that may move a
   branch, or of all others. */
void asks_tell_ended(bool git);

/* Takes one notification and tells the host, or refuses it. */
void ask_take(struct listening *listening);
/* The same for an exec that has happened, by ptrace; a `problem` kept it from being read. */
void ask_stopped(struct watch *watch, struct exec *exec, int problem);
void ask_allow(struct ask *ask);
void ask_refuse(struct ask *ask, int problem);
/* Whether it has not run yet, for want of a decision or of its turn. */
bool ask_waits(const struct ask *ask);
/* Tells the end and forgets it; the status is as wait gives it. */
void ask_end(struct ask *ask, uint32_t outcome, int status);
/* Nothing can be answered through a listener any more. */
void asks_lose(const struct listening *listening);

/* ---- what is to be root ---- */

/* Tells the host of it; NULL where there is no room. */
struct ask *ask_root(struct watch *watch, struct exec *exec, struct work *work);
/* It has been decided on: it goes on to its exec. */
void ask_grant(struct ask *ask);
/* The ask of a process that has been granted what it is about to run, NULL for none. */
struct ask *ask_granted(pid_t pid);
/* The program that was granted is about to run, as a notification or a stop shows it: whether it
   is the one that was decided on. */
bool ask_is_granted(const struct ask *ask, const struct exec *exec);
/* Its program has been loaded, and is the right one or not; by ptrace. */
void ask_settle(struct ask *ask, bool right);
/* Its request is over. */
void ask_root_ended(const struct work *work);

#endif
