/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Poly1305-AES out of libcrypto's parts: Poly1305 takes r, which stays, and the pad AES_k(nonce).
 * Of what libcrypto has it takes the least time for messages of 64 bytes to 16 KiB.
 */
#include "base/mac.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/kdf.h>
#include <openssl/params.h>
#include <openssl/provider.h>

#include "base/registers.h"

#define HALF_KEY    16
#define MAX_CONTEXT 64
#define MAX_PURPOSE 64 /* with the final zero */

/*
 * The library context is one of its own: how an application sets libcrypto up, by its calls or its
 * configuration file, does not concern us, nor does what we load concern the application. It takes
 * most of a millisecond to open, so all codes share it; the last one closes it, because this code
 * may be unloaded.
 */
static struct {
    pthread_mutex_t lock;
    unsigned users;
    OSSL_LIB_CTX *context;
    OSSL_PROVIDER *provider;
} library = {.lock = PTHREAD_MUTEX_INITIALIZER};

struct oc_mac {
    EVP_CIPHER_CTX *aes;
    EVP_MAC_CTX *poly1305;
    uint8_t key[OC_MAC_KEY_SIZE];    /* of Poly1305: r, and the pad of the message at hand */
};

static void library_close(void)
{
    pthread_mutex_lock(&library.lock);
    if (0 == --library.users) {
        if (NULL != library.provider) {
            OSSL_PROVIDER_unload(library.provider);
        }
        OSSL_LIB_CTX_free(library.context);
        library.provider = NULL;
        library.context = NULL;
    }
    pthread_mutex_unlock(&library.lock);
}

static bool library_open(void)
{
    bool ok;

    pthread_mutex_lock(&library.lock);
    if (0 == library.users++) {
        library.context = OSSL_LIB_CTX_new();
        library.provider = NULL == library.context
                               ? NULL
                               : OSSL_PROVIDER_load(library.context, "default");
    }
    ok = NULL != library.provider;
    pthread_mutex_unlock(&library.lock);
    if (!ok) {
        library_close();
    }
    return ok;
}

static bool derive(const void *secret, size_t secret_size, const char *purpose, const void *context,
                   size_t context_size, uint8_t key[OC_MAC_KEY_SIZE])
{
    EVP_KDF *algorithm = EVP_KDF_fetch(library.context, "HKDF", NULL);
    EVP_KDF_CTX *kdf = NULL == algorithm ? NULL : EVP_KDF_CTX_new(algorithm);
    uint8_t info[MAX_PURPOSE + MAX_CONTEXT];
    size_t length = strlen(purpose) + 1;
    OSSL_PARAM params[4];
    bool ok = false;

    EVP_KDF_free(algorithm);
    if (NULL != kdf && length <= MAX_PURPOSE && context_size <= MAX_CONTEXT) {
        memcpy(info, purpose, length);
        if (context_size > 0) {
            memcpy(info + length, context, context_size);
        }
        params[0] = OSSL_PARAM_construct_utf8_string(OSSL_KDF_PARAM_DIGEST, (char *) "SHA256", 0);
        params[1] = OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_KEY, (void *) secret,
                                                      secret_size);
        params[2] = OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_INFO, info,
                                                      length + context_size);
        params[3] = OSSL_PARAM_construct_end();
        ok = 1 == EVP_KDF_derive(kdf, key, OC_MAC_KEY_SIZE, params);
    }
    EVP_KDF_CTX_free(kdf);
    return ok;
}

static bool open_aes(oc_mac_t *mac, const uint8_t key[HALF_KEY])
{
    EVP_CIPHER *algorithm = EVP_CIPHER_fetch(library.context, "AES-128-ECB", NULL);
    bool ok;

    mac->aes = EVP_CIPHER_CTX_new();
    ok = NULL != algorithm && NULL != mac->aes
         && 1 == EVP_EncryptInit_ex2(mac->aes, algorithm, key, NULL, NULL)
         && 1 == EVP_CIPHER_CTX_set_padding(mac->aes, 0);
    EVP_CIPHER_free(algorithm);
    return ok;
}

static bool open_poly1305(oc_mac_t *mac)
{
    EVP_MAC *algorithm = EVP_MAC_fetch(library.context, "POLY1305", NULL);

    mac->poly1305 = NULL == algorithm ? NULL : EVP_MAC_CTX_new(algorithm);
    EVP_MAC_free(algorithm);
    return NULL != mac->poly1305;
}

/* With the library open; NULL closes it. */
static oc_mac_t *with_key(const uint8_t key[OC_MAC_KEY_SIZE])
{
    oc_mac_t *mac = calloc(1, sizeof(*mac));

    if (NULL == mac) {
        library_close();
        return NULL;
    }
    memcpy(mac->key, key + HALF_KEY, HALF_KEY);
    if (!open_aes(mac, key) || !open_poly1305(mac)) {
        oc_mac_free(mac);
        return NULL;
    }
    return mac;
}

oc_mac_t *oc_mac_new_key(const uint8_t key[OC_MAC_KEY_SIZE])
{
    return library_open() ? with_key(key) : NULL;
}

oc_mac_t *oc_mac_new(const void *secret, size_t secret_size, const char *purpose,
                     const void *context, size_t context_size)
{
    uint8_t key[OC_MAC_KEY_SIZE];
    oc_mac_t *mac = NULL;

    if (!library_open()) {
        return NULL;
    }
    if (derive(secret, secret_size, purpose, context, context_size, key)) {
        mac = with_key(key);
    } else {
        library_close();
    }
    OPENSSL_cleanse(key, sizeof(key));
    return mac;
}

void oc_mac_free(oc_mac_t *mac)
{
    if (NULL == mac) {
        return;
    }
    EVP_MAC_CTX_free(mac->poly1305);
    EVP_CIPHER_CTX_free(mac->aes);
    library_close();
    OPENSSL_cleanse(mac->key, sizeof(mac->key));
    free(mac);
}

static void write_u64(uint64_t value, uint8_t *to)
{
    for (int i = 0; i < 8; i++) {
        to[i] = (uint8_t) (value >> (8 * i));
    }
}

static bool mac_compute(oc_mac_t *mac, oc_nonce_t nonce, const void *head, size_t head_size,
                        const void *body, size_t body_size, uint8_t code[OC_MAC_SIZE])
{
    uint8_t block[HALF_KEY];
    size_t size;
    int used;
    bool ok;

    write_u64(nonce.high, block);
    write_u64(nonce.low, block + 8);
    ok = 1 == EVP_EncryptUpdate(mac->aes, mac->key + HALF_KEY, &used, block, HALF_KEY)
         && 1 == EVP_MAC_init(mac->poly1305, mac->key, sizeof(mac->key), NULL)
         && 1 == EVP_MAC_update(mac->poly1305, head, head_size)
         && (0 == body_size || 1 == EVP_MAC_update(mac->poly1305, body, body_size))
         && 1 == EVP_MAC_final(mac->poly1305, code, &size, OC_MAC_SIZE);
    oc_registers_clean();
    return ok;
}

void oc_mac_sign(oc_mac_t *mac, oc_nonce_t nonce, const void *head, size_t head_size,
                 const void *body, size_t body_size, uint8_t code[OC_MAC_SIZE])
{
    if (!mac_compute(mac, nonce, head, head_size, body, body_size, code)) {
        memset(code, 0, OC_MAC_SIZE);
    }
}

bool oc_mac_verify(oc_mac_t *mac, oc_nonce_t nonce, const void *head, size_t head_size,
                   const void *body, size_t body_size, const uint8_t code[OC_MAC_SIZE])
{
    uint8_t expected[OC_MAC_SIZE];

    return mac_compute(mac, nonce, head, head_size, body, body_size, expected)
           && 0 == CRYPTO_memcmp(expected, code, OC_MAC_SIZE);
}
