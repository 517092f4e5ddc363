/* Whom the kernel takes when memory runs out. */
#ifndef OOM_H
#define OOM_H

void oom_prepare(void);
/* Around fork: a command and its shim should go before the supervisor. */
void oom_volunteer(void);
void oom_withdraw(void);

#endif
