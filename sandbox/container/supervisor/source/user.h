/* Users: whom the supervisor acts as, and what it is itself. */
#ifndef USER_H
#define USER_H

#include <stdbool.h>
#include <stdint.h>

#define USER_PRIVATE 65533 /* whom nobody else may become */

struct user {
    uint32_t uid, gid;
};

/* Where we are root: become a user of our own who keeps root's capabilities and root's rights on
   files, so that neither the agent nor root can signal, trace or limit us. `plain`: as on a kernel
   that keeps no user for files alone. */
bool user_prepare(bool plain);
/* Whether we can act as any user; else only as ourselves. */
bool user_is_root(void);
/* Whose files we use where we act as nobody else. */
struct user user_own(void);

/* Lets the kernel check permissions for this user; false with EPERM where that is impossible. */
bool user_become(struct user user);
void user_leave(void);

/* In a new process: be the user of our own in all respects, so that the supervisor may trace it. */
bool user_unite(void);

/* In a new process, for good; false with errno. Root keeps those capabilities that `kept` has;
   any other user has none. Only system calls. */
bool user_turn(struct user user, uint64_t kept);
#define USER_ALL (~(uint64_t)0)

#endif
