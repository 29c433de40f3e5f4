/* SPDX-License-Identifier: BSD-3-Clause */
/* What is noted of lost servers. */
#include "client/state/loss.h"

#include <stdio.h>
#include <string.h>

#include "client/state/collapse.h"

/* Of several the first one counts, but a loss more than a return. */
static void loss_note(oc_client_t *client, oc_status_t status, bool is_loss, const char *reason)
{
    if (!client->losing || (is_loss && !client->loss_is_one)) {
        client->losing = true;
        client->loss_is_one = is_loss;
        client->loss_status = status;
        snprintf(client->loss_reason, sizeof(client->loss_reason), "%s", reason);
    }
}

bool oc_loss_notice(oc_connection_t *connection, oc_status_t status, const char *reason)
{
    oc_client_t *client = connection->client;

    /* a rank whose server is gone has died */
    if (!client->config.settings->recovery || connection->of_rank || 0 == connection->incarnation
        || 0 != connection->parent) {
        return false;
    }
    if (oc_lost_has(&client->lost, connection->incarnation)) {
        return true;
    }
    if (!oc_lost_add(&client->lost, connection->incarnation)) {
        return false;
    }
    loss_note(client, status, true, reason);
    return true;
}

void oc_loss_of(oc_client_t *client, uint64_t incarnation, const char *reason)
{
    if (oc_lost_has(&client->lost, incarnation)) {
        return;
    }
    if (!oc_lost_add(&client->lost, incarnation)) {
        oc_client_collapse(client, OC_ERR_LIMIT, "%s; a job can lose %d servers, and this is one more", reason, OC_MAX_LOST);
        return;
    }
    loss_note(client, OC_ERR_UNREACHABLE, true, reason);
}

void oc_loss_return(oc_connection_t *connection)
{
    oc_client_t *client = connection->client;
    char reason[OC_REASON_SIZE];

    if (oc_lost_has_returned(&client->lost, connection->incarnation)) {
        return;
    }
    if (oc_lost_add_returned(&client->lost, (oc_returned_t) {.incarnation = connection->incarnation,
                                                             .number = (uint16_t) connection->number})) {
        snprintf(reason, sizeof(reason), "server %.200s is back", connection->name);
        loss_note(client, OC_ERR_UNREACHABLE, false, reason);
    }
}

oc_control_t oc_loss_words(const oc_client_t *client)
{
    oc_control_t words = {.type = OC_CONTROL_LOST};

    words.loss.servers = client->lost;
    words.loss.text = (oc_bytes_t) {
        .data = (const uint8_t *) client->loss_reason,
        .length = (uint32_t) strnlen(client->loss_reason, OC_MAX_TEXT)};
    return words;
}

void oc_loss_hear(oc_client_t *client, const oc_loss_t *loss)
{
    unsigned before = client->lost.count;
    char text[OC_MAX_TEXT + 1];

    if (oc_lost_covers(&client->lost, &loss->servers)) {
        return;
    }
    oc_control_text(&loss->text, text, sizeof(text));
    if (!client->config.settings->recovery) {
        oc_client_collapse(client, OC_ERR_UNREACHABLE, "%s", text);
    } else if (!oc_lost_join(&client->lost, &loss->servers)) {
        oc_client_collapse(client, OC_ERR_LIMIT, "%s; a job can lose %d servers, and as many can return, and this is one more",
                           text, OC_MAX_LOST);
    } else {
        loss_note(client, OC_ERR_UNREACHABLE, client->lost.count > before, text);
    }
}

bool oc_group_is_renewable(const oc_group_t *group)
{
    return NULL != group->servers && group->servers->renews;
}
