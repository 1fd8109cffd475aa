/** How often something may be tried: counted from the first try on, for all instances together. */
