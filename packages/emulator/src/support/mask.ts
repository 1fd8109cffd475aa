/** What stands in place of a secret. */
export const maskText = '[masked]'
