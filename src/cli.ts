#!/usr/bin/env node
import { runCommand } from './cli/main.js'

process.exitCode = await runCommand(process.argv.slice(2))
