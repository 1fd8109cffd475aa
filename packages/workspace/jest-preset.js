/** What every package's jest.config.js is: TypeScript through swc, ES modules, one process a file. */

/** @type {import('jest').Config} */
export default {
  testEnvironment: 'node',
  testMatch: ['<rootDir>/test/**/*.test.ts'],
  testTimeout: 30_000,
  extensionsToTreatAsEsm: ['.ts'],
  // Jest before Node 24.9 cannot require() an ES module: http-cookie-agent (CommonJS) requires agent-base 9 (ESM only).
  transformIgnorePatterns: ['/node_modules/(?!(?:.*/)?agent-base/)'],
  transform: {
    '/agent-base/.+\\.js$': ['@swc/jest', { jsc: { target: 'es2022' }, module: { type: 'commonjs' } }],
    '^.+\\.ts$': [
      '@swc/jest',
      {
        jsc: { parser: { syntax: 'typescript' }, target: 'es2022' },
        module: { type: 'es6' },
        sourceMaps: 'inline',
      },
    ],
  },
}
