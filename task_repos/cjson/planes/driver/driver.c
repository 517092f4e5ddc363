/* Reads one character from a JSON text of escapes and prints its bytes, or `refused`.
 * One argument: the code point. Several: each a code unit of its own, in hexadecimal. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cJSON.h"

int main(int count, char **arguments)
{
    char text[256] = "\"";
    size_t used = 1;
    const char *value = NULL;
    cJSON *item = NULL;
    int place = 0;

    if (count == 2)
    {
        unsigned long point = strtoul(arguments[1], NULL, 10);
        if (point < 0x10000)
        {
            sprintf(text + used, "\\u%04lx", point);
        }
        else
        {
            point -= 0x10000;
            sprintf(text + used, "\\u%04lX\\u%04lx", 0xD800 + (point >> 10), 0xDC00 + (point & 0x3FF));
        }
    }
    for (place = 1; (count > 2) && (place < count) && (place < 16); place++)
    {
        used += (size_t)sprintf(text + used, "\\u%04lx", strtoul(arguments[place], NULL, 16));
    }
    strcat(text, "\"");
    item = cJSON_Parse(text);
    value = cJSON_GetStringValue(item);
    if (value == NULL)
    {
        puts("refused");
        return 0;
    }
    while (*value != '\0')
    {
        printf("%02x", (unsigned char)*value++);
    }
    puts("");
    cJSON_Delete(item);
    return 0;
}
