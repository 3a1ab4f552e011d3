#!/usr/bin/env node
import { runCommand } from './cli/main.js'

const code = await runCommand(process.argv.slice(2))
if (code !== 0) process.exitCode = code // else output that could not be written has set it
// What the module of a store has opened, such as a connection, would keep the process running.
if (process.argv[2] === 'test-store') process.stdout.write('', () => process.exit())
