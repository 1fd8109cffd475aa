/** This package's version: the build writes the manifest's here (packages/workspace/bake-version.mjs). */
export const version: string = '0.0.0-source'
