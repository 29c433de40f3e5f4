/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Data-parallel training of a small network on handwritten digits, as train_digits.py, in C. An ordinary MPI
 * program: each rank holds a part of the images, and after each minibatch one MPI_Allreduce adds the gradients.
 *
 *     mpicc -O2 -o train_digits examples/train_digits.c -lm
 *     mpiexec -n 4 ./train_digits digits.csv [EPOCHS]
 *
 * digits.csv: an image a line, 64 numbers from 0 to 16 and the digit; scikit-learn brings it along, compressed.
 */
#include <math.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    PIXELS = 64,
    HIDDEN = 64,
    CLASSES = 10,
    BATCH = 32,                 /* images of a minibatch, over all ranks */
    MOST_IMAGES = 4096,
    TEST_EVERY = 4,             /* one image of so many is not trained on */
    /* places in the vector of all weights */
    FIRST = 0,
    FIRST_BIAS = FIRST + HIDDEN * PIXELS,
    SECOND = FIRST_BIAS + HIDDEN,
    SECOND_BIAS = SECOND + CLASSES * HIDDEN,
    WEIGHTS = SECOND_BIAS + CLASSES,
};

static const float learning_rate = 0.05f, momentum = 0.9f;
static const double required_accuracy = 0.95;

typedef struct {
    float pixels[PIXELS];
    int digit;
} image_t;

typedef struct {
    image_t *images;
    int count;
} images_t;

static float weights[WEIGHTS], velocity[WEIGHTS];
/* The sum of the gradients, and then the number of images they are of: one Allreduce. */
static float reduced[WEIGHTS + 1];
static int rank, ranks;

static void stop_all(const char *what, const char *name)
{
    fprintf(stderr, "train_digits: %s%s\n", what, name);
    MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
}

/* splitmix64 */
static uint64_t next_random(uint64_t *state)
{
    uint64_t x = *state += 0x9e3779b97f4a7c15u;

    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

static float next_normal(uint64_t *state)
{
    double a = ((double) (next_random(state) >> 11) + 1) / 9007199254740993.0;
    double b = (double) (next_random(state) >> 11) / 9007199254740992.0;

    return (float) (sqrt(-2 * log(a)) * cos(2 * acos(-1) * b));
}

static void shuffle(images_t *images, uint64_t *state)
{
    for (int i = images->count - 1; i > 0; i--) {
        int other = (int) (next_random(state) % (uint64_t) (i + 1));
        image_t image = images->images[i];

        images->images[i] = images->images[other];
        images->images[other] = image;
    }
}

static int read_image(FILE *file, image_t *image)
{
    for (int i = 0; i < PIXELS; i++) {
        if (1 != fscanf(file, "%f,", &image->pixels[i])) {
            return 0;
        }
        image->pixels[i] /= 16;
    }
    return 1 == fscanf(file, "%d", &image->digit) && image->digit >= 0 && image->digit < CLASSES;
}

static images_t read_images(const char *path)
{
    images_t all = {calloc(MOST_IMAGES, sizeof(image_t)), 0};
    FILE *file = fopen(path, "r");

    if (NULL == file || NULL == all.images) {
        stop_all("cannot read ", path);
    }
    while (all.count < MOST_IMAGES && read_image(file, &all.images[all.count])) {
        all.count++;
    }
    fclose(file);
    if (all.count < TEST_EVERY * ranks) {
        stop_all("too few images in ", path);
    }
    return all;
}

/* What this rank has, of those to train on or of the others. */
static images_t take_part(const images_t *all, int of_test)
{
    images_t part = {calloc((size_t) all->count, sizeof(image_t)), 0};
    int number = 0;

    if (NULL == part.images) {
        stop_all("no memory for ", "images");
    }
    for (int i = 0; i < all->count; i++) {
        if ((0 == i % TEST_EVERY) == of_test && number++ % ranks == rank) {
            part.images[part.count++] = all->images[i];
        }
    }
    return part;
}

static void begin_weights(uint64_t *state)
{
    for (int i = 0; i < HIDDEN * PIXELS; i++) {
        weights[FIRST + i] = next_normal(state) * sqrtf(2.0f / PIXELS);
    }
    for (int i = 0; i < CLASSES * HIDDEN; i++) {
        weights[SECOND + i] = next_normal(state) * sqrtf(2.0f / HIDDEN);
    }
}

/* Layer of inputs to outputs, each with its row of factors and its bias. */
static void apply(const float *factors, const float *bias, const float *in, int inputs, float *out,
                  int outputs)
{
    for (int o = 0; o < outputs; o++) {
        out[o] = bias[o];
        for (int i = 0; i < inputs; i++) {
            out[o] += factors[o * inputs + i] * in[i];
        }
    }
}

/* What the network makes of an image: the hidden layer, and a probability of each digit. */
static void recognize(const image_t *image, float hidden[HIDDEN], float digits[CLASSES])
{
    float most, sum = 0;

    apply(weights + FIRST, weights + FIRST_BIAS, image->pixels, PIXELS, hidden, HIDDEN);
    for (int i = 0; i < HIDDEN; i++) {
        hidden[i] = hidden[i] > 0 ? hidden[i] : 0;
    }
    apply(weights + SECOND, weights + SECOND_BIAS, hidden, HIDDEN, digits, CLASSES);
    most = digits[0];
    for (int i = 1; i < CLASSES; i++) {
        most = digits[i] > most ? digits[i] : most;
    }
    for (int i = 0; i < CLASSES; i++) {
        digits[i] = expf(digits[i] - most);
        sum += digits[i];
    }
    for (int i = 0; i < CLASSES; i++) {
        digits[i] /= sum;
    }
}

/* Adds a layer's slopes, and returns in back, unless it is NULL, what its inputs are to blame for. */
static void blame(const float *error, int outputs, const float *in, int inputs, int factors, int bias,
                  float *back)
{
    for (int o = 0; o < outputs; o++) {
        reduced[bias + o] += error[o];
        for (int i = 0; i < inputs; i++) {
            reduced[factors + o * inputs + i] += error[o] * in[i];
            if (NULL != back) {
                back[i] += error[o] * weights[factors + o * inputs + i];
            }
        }
    }
}

/* Adds the gradient of an image. Returns its loss. */
static double add_gradient(const image_t *image)
{
    float hidden[HIDDEN], digits[CLASSES], back[HIDDEN] = {0};
    double loss;

    recognize(image, hidden, digits);
    loss = -log(digits[image->digit] > 1e-30f ? digits[image->digit] : 1e-30f);
    digits[image->digit] -= 1;
    blame(digits, CLASSES, hidden, HIDDEN, SECOND, SECOND_BIAS, back);
    for (int i = 0; i < HIDDEN; i++) {
        back[i] = hidden[i] > 0 ? back[i] : 0;
    }
    blame(back, HIDDEN, image->pixels, PIXELS, FIRST, FIRST_BIAS, NULL);
    reduced[WEIGHTS] += 1;
    return loss;
}

/* One minibatch. Returns the loss of this rank's images. */
static double step(const image_t *images, int count)
{
    double loss = 0;

    memset(reduced, 0, sizeof(reduced));
    for (int i = 0; i < count; i++) {
        loss += add_gradient(&images[i]);
    }
    MPI_Allreduce(MPI_IN_PLACE, reduced, WEIGHTS + 1, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
    for (int i = 0; reduced[WEIGHTS] > 0 && i < WEIGHTS; i++) {
        velocity[i] = momentum * velocity[i] - learning_rate / reduced[WEIGHTS] * reduced[i];
        weights[i] += velocity[i];
    }
    return loss;
}

static int count_correct(const images_t *test)
{
    float hidden[HIDDEN], digits[CLASSES];
    int correct = 0;

    for (int i = 0; i < test->count; i++) {
        int best = 0;

        recognize(&test->images[i], hidden, digits);
        for (int digit = 1; digit < CLASSES; digit++) {
            best = digits[digit] > digits[best] ? digit : best;
        }
        correct += best == test->images[i].digit;
    }
    return correct;
}

/* All images once. Returns the accuracy on those of the test. */
static double train_epoch(images_t *train, const images_t *test, int steps, int epoch, uint64_t *state)
{
    double sums[4] = {0, train->count, 0, test->count}; /* loss, its images, correct ones, of so many */
    double begin = MPI_Wtime();

    shuffle(train, state);
    for (int i = 0; i < steps; i++) {
        int first = (int) ((long) train->count * i / steps);
        int end = (int) ((long) train->count * (i + 1) / steps);

        sums[0] += step(train->images + first, end - first);
    }
    sums[2] = count_correct(test);
    MPI_Allreduce(MPI_IN_PLACE, sums, 4, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    if (0 == rank) {
        printf("epoch %3d  loss %.4f  test accuracy %.4f  %6.2f s\n", epoch, sums[0] / sums[1],
               sums[2] / sums[3], MPI_Wtime() - begin);
        fflush(stdout);
    }
    return sums[2] / sums[3];
}

/* Whether all ranks hold the same weights, bit for bit. */
static int weights_are_equal(void)
{
    static float reference[WEIGHTS];
    int equal;

    memcpy(reference, weights, sizeof(reference));
    MPI_Bcast(reference, WEIGHTS, MPI_FLOAT, 0, MPI_COMM_WORLD);
    equal = 0 == memcmp(reference, weights, sizeof(reference));
    MPI_Allreduce(MPI_IN_PLACE, &equal, 1, MPI_INT, MPI_LAND, MPI_COMM_WORLD);
    return equal;
}

static int finish_training(double accuracy)
{
    int equal = weights_are_equal();

    if (0 == rank && !equal) {
        printf("error: the ranks hold different weights after the training\n");
    } else if (0 == rank && accuracy < required_accuracy) {
        printf("error: test accuracy %.4f is below %.2f: train longer\n", accuracy, required_accuracy);
    } else if (0 == rank) {
        printf("test accuracy %.4f\n", accuracy);
    }
    return equal && accuracy >= required_accuracy ? EXIT_SUCCESS : EXIT_FAILURE;
}

int main(int argc, char **argv)
{
    uint64_t common = 1, own;
    images_t all, train, test;
    double accuracy = 0;
    int epochs, steps, status;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    epochs = argc > 2 ? atoi(argv[2]) : 30;
    if (argc < 2 || argc > 3 || epochs < 1) {
        stop_all("usage: train_digits digits.csv [EPOCHS]", "");
    }
    all = read_images(argv[1]);
    shuffle(&all, &common);
    train = take_part(&all, 0);
    test = take_part(&all, 1);
    begin_weights(&common);
    own = common + (uint64_t) rank;
    steps = (all.count - all.count / TEST_EVERY + BATCH - 1) / BATCH;
    for (int epoch = 1; epoch <= epochs; epoch++) {
        accuracy = train_epoch(&train, &test, steps, epoch, &own);
    }
    status = finish_training(accuracy);
    free(all.images);
    free(train.images);
    free(test.images);
    MPI_Finalize();
    return status;
}
