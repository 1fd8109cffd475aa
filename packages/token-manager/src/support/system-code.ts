/** The system's code of an error, such as `ENOENT`. By its shape: Node's own errors may be of another realm. */
export function systemCode(error: unknown): string | undefined {
  const isObject = typeof error === 'object' && error !== null
  return isObject && 'code' in error && typeof error.code === 'string' ? error.code : undefined
}
