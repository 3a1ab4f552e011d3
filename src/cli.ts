#!/usr/bin/env node
import { runCommand } from './cli/main.js'

const code = await runCommand(process.argv.slice(2))
if (code !== 0) process.exitCode = code // else output that could not be written has set it
// A connection that the store's module has opened would keep the process running.
if (/^(?:test-store|settings|events|tune)$/.test(process.argv[2] ?? ''))
  process.stdout.write('', () => process.exit())
