/**
 * The inspector's page: what is shown, from one connection to the emulator.
 */
import { render } from 'preact'
import { App } from './app.tsx'
import { connect } from './connection.ts'
import { createLogins } from './logins.ts'

const logins = createLogins()
const root = document.querySelector('#inspector')
if (root) render(<App logins={logins} connection={connect(logins)} />, root)
