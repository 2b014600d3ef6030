"""The 17 cases of CheckDP as plain Python, with epsilon = 1.

Wang, Ding, Kifer and Zhang 2020, "CheckDP: An Automated and Integrated Approach for Proving Differential Privacy or
Finding Precise Counterexamples" (repository cmla-psu/checkdp), decide them in a subset of C, in at most 70 seconds
each. The algorithms and their scales are theirs; a threshold of 0 stands for any. Neighbours move every query by at
most 1, or a single one for the sums; the two monotone cases move all queries the same way.
"""

THRESHOLD = 0.0


# --- noisy max ----------------------------------------------------------------------------------------------


def noisy_max(data, size, rng):
    def run():
        best, place = None, 0
        for i, query in enumerate(data):
            noisy = query + rng.laplace(scale=2)
            if best is None or noisy > best:
                best, place = noisy, i
        return place

    return [run() for _ in range(size)]


def bad_noisy_max(data, size, rng):
    """Returns the largest noisy query."""

    def run():
        best = None
        for query in data:
            noisy = query + rng.laplace(scale=2)
            if best is None or noisy > best:
                best = noisy
        return best

    return [run() for _ in range(size)]


# --- sparse vector ------------------------------------------------------------------------------------------


def _sparse_vector(data, rng, cutoff, threshold_scale, query_scale, release):
    """Compare queries with a noisy threshold until `cutoff` of them pass (None: all)."""
    threshold = THRESHOLD + rng.laplace(scale=threshold_scale)
    answers, hits = [], 0
    for query in data:
        noisy = query + rng.laplace(scale=query_scale) if query_scale else query
        hit = noisy >= threshold
        answers.append(release(query, noisy, threshold) if hit else None)
        hits += bool(hit)
        if hits == cutoff:
            break
    return tuple(answers)


def _hit(query, noisy, threshold):
    return True


def _gap(query, noisy, threshold):
    return noisy - threshold


def _noisy_query(query, noisy, threshold):
    return noisy


def sparse_vector(data, size, rng, cutoff=1):
    return [_sparse_vector(data, rng, cutoff, 2, 4 * cutoff, _hit) for _ in range(size)]


def sparse_vector_monotone(data, size, rng, cutoff=1):
    """Half of the noise on the queries, for queries that move the same way (increasing and decreasing)."""
    return [_sparse_vector(data, rng, cutoff, 2, 2 * cutoff, _hit) for _ in range(size)]


def bad_sparse_vector_1(data, size, rng):
    """No noise on the queries, and no cutoff."""
    return [_sparse_vector(data, rng, None, 2, 0, _hit) for _ in range(size)]


def bad_sparse_vector_2(data, size, rng):
    """No cutoff."""
    return [_sparse_vector(data, rng, None, 2, 2, _hit) for _ in range(size)]


def bad_sparse_vector_3(data, size, rng, cutoff=1):
    """Noise on the queries that does not grow with the cutoff."""
    return [_sparse_vector(data, rng, cutoff, 4, 4 / 3, _hit) for _ in range(size)]


def gap_sparse_vector(data, size, rng, cutoff=1):
    return [_sparse_vector(data, rng, cutoff, 2, 4 * cutoff, _gap) for _ in range(size)]


def bad_gap_sparse_vector(data, size, rng, cutoff=1):
    """Releases the noisy query in place of its gap to the threshold."""
    return [_sparse_vector(data, rng, cutoff, 2, 4 * cutoff, _noisy_query) for _ in range(size)]


def numerical_sparse_vector(data, size, rng, cutoff=1):
    def fresh(query, noisy, threshold):
        return query + rng.laplace(scale=3 * cutoff)

    return [_sparse_vector(data, rng, cutoff, 3, 6 * cutoff, fresh) for _ in range(size)]


def _adaptive(data, rng, cutoff, release_far):
    threshold = THRESHOLD + rng.laplace(scale=2)
    answers, spent = [], 2 * cutoff
    for query in data:
        far = query + rng.laplace(scale=8 * cutoff)
        if far - threshold >= 16:
            answers.append(release_far(far, threshold))
            spent += 1
        else:
            near = query + rng.laplace(scale=4 * cutoff)
            if near - threshold >= 0:
                answers.append(near - threshold)
                spent += 2
            else:
                answers.append(None)
        if spent > 4 * cutoff - 2:
            break
    return tuple(answers)


def adaptive_sparse_vector(data, size, rng, cutoff=1):
    return [_adaptive(data, rng, cutoff, lambda far, threshold: far - threshold) for _ in range(size)]


def bad_adaptive_sparse_vector(data, size, rng, cutoff=1):
    """Releases the noisy query where it is far above the threshold."""
    return [_adaptive(data, rng, cutoff, lambda far, threshold: far) for _ in range(size)]


# --- sums ---------------------------------------------------------------------------------------------------


def partial_sum(data, size, rng):
    return [sum(data) + rng.laplace(scale=1) for _ in range(size)]


def bad_partial_sum(data, size, rng):
    """Half of the noise."""
    return [sum(data) + rng.laplace(scale=1 / 2) for _ in range(size)]


def _smart_sum(data, rng, block_scale, block=2):
    released, total, inside = [], 0.0, 0.0
    for i, query in enumerate(data):
        inside = inside + query
        if (i + 1) % block == 0:
            total = inside + rng.laplace(scale=block_scale) if block_scale else inside
            inside = 0.0
        else:
            total = total + query + rng.laplace(scale=1)
        released.append(total)
    return tuple(released)


def smart_sum(data, size, rng):
    """Running sums, with fresh noise on the sum of each block of 2; claims 2 epsilon."""
    return [_smart_sum(data, rng, 1) for _ in range(size)]


def bad_smart_sum(data, size, rng):
    """No noise on the sums of blocks."""
    return [_smart_sum(data, rng, 0) for _ in range(size)]
