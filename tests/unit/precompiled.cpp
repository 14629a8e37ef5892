// Nothing of its own: it gives the precompiled header a source to be compiled for.
