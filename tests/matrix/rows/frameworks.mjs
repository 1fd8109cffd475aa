/** The recipes of docs/guides/frameworks.md: people sign in, the second factor included. */
import { run, write } from '../project.mjs'
import { quickStarts, recipe } from '../recipes.mjs'
import { signsPeopleIn } from '../sign-in.mjs'

const ours = ['@owner-sso/core', '@owner-sso/passport']

const express = (name, version, passport, slice) => ({
  name: `${name}, Passport ${passport}`,
  slice,
  covers: { Express: version, Passport: passport },
  packages: [`express@${version}`, 'express-session', `passport@${passport}`],
  files: { 'app.mjs': quickStarts.passport },
})

const apps = [
  express('Express 4.21', '4.21.2', '0.6.0'),
  express('Express 4', '4', '0.7', true),
  express('Express 5', '5', '0.7'),
  {
    name: 'NestJS',
    packages: [
      '@nestjs/common',
      '@nestjs/core',
      '@nestjs/platform-express',
      '@nestjs/passport',
      'reflect-metadata',
      'rxjs',
      'passport@0.7',
      'express-session',
      'typescript@5.9',
      '@types/node@22',
      '@types/express',
      '@types/express-session',
      '@types/passport',
    ],
    files: { 'main.ts': recipe('nestjs'), 'tsconfig.json': recipe('nestjs-tsconfig') },
    build: ['node_modules/typescript/bin/tsc'],
    main: 'dist/main.js',
  },
  {
    name: 'Fastify',
    packages: ['fastify', '@fastify/passport', '@fastify/secure-session', '@fastify/formbody'],
    files: { 'app.mjs': recipe('fastify') },
  },
  {
    name: 'Koa',
    packages: ['koa', 'koa-passport', 'koa-session', '@koa/bodyparser', '@koa/router'],
    files: { 'app.mjs': recipe('koa') },
  },
]

export const frameworks = {
  title: 'Frameworks',
  prepare: () => undefined,
  rows: apps.map(
    ({ name, slice = false, covers = { Frameworks: name }, packages, files, build, main = 'app.mjs' }) => ({
      name,
      slice,
      covers,
      async run(_state, { project }) {
        const here = await project(...ours, ...packages)
        for (const [file, text] of Object.entries(files)) write(here, file, text)
        if (build) await run(process.execPath, build, { cwd: here })
        await signsPeopleIn(process.execPath, [main], { cwd: here })
      },
    }),
  ),
}
