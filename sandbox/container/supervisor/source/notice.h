/* What happens to files: which of the watched paths were written, removed or read, and what they
   hold then. The host is told before it is told of the next exec or end of one, so that what came
   first is told first. */
#ifndef NOTICE_H
#define NOTICE_H

#include <stdbool.h>
#include <stdint.h>

#include "frame.h"

/* u32 flags, list of roots, list of excluded paths and names, list of files whose reading counts. */
void notice_watch(uint32_t id, struct cursor *payload);
/* Tells everything that has happened until now, and then says so. */
void notice_settle(uint32_t id, struct cursor *payload);
/* `ends` tells the host which programs have ended: those that are git, or all others. */
void notice_prepare(void (*ends)(bool git));
/* Tells everything that has happened until now, ends included. Nothing may be half written in the
   queue. */
void notice_drain(void);
/* Tells what has to be told before the end of a program, be it git, which is about to be told. */
void notice_before_end(bool git);
/* Takes what the kernel has to say, and tells nothing of it: between two programs a file may be
   half written, or removed to be written anew, and how much of that is seen would be chance. */
void notice_look(void);
/* The kernel's queue where it is time to look at it; else -1. */
int notice_descriptor(void);
/* How soon to come back in any case; -1: no need to. */
int64_t notice_timeout_us(void);
void notice_end(void);

#endif
