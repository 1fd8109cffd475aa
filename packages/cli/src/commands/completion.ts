/** `owner-sso completion`: what it takes, and what its help says. */
import { command } from '../command-line/command.ts'

export const completion = command({
  name: 'completion',
  args: '<shell>',
  summary: 'print a completion script for a shell',
  description: 'Prints a script that completes commands, options and account names.',
  options: {},
  examples: [
    ['source <(owner-sso completion bash)', 'in ~/.bashrc'],
    ['source <(owner-sso completion zsh)', 'in ~/.zshrc, after compinit'],
    ['owner-sso completion fish > ~/.config/fish/completions/owner-sso.fish', ''],
  ],
})
