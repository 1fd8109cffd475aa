/** This package's version: the build writes the manifest's here (tools/build/bake-version.mjs). */
export const version: string = '0.0.0-source'
