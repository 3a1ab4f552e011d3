import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Report } from '../../../src/cli/replay/report.js'
import { mustRun } from './run-command.js'

export const START_MS = Date.UTC(2026, 10, 24, 3)
export const FIXED = ['--window', '1m', '--policy', 'fixed-window']
export const LIMIT = ['--limit', '2', ...FIXED]

/** Has the tests of a file run in a folder of their own: messages name inputs as they were given. */
export function useLogFolder(): void {
  let folder: string
  let home: string
  beforeAll(() => {
    home = process.cwd()
    folder = mkdtempSync(join(tmpdir(), 'headgate-replay-command-'))
    process.chdir(folder)
  })
  afterAll(() => {
    process.chdir(home)
    rmSync(folder, { recursive: true, force: true })
  })
}

/** Returns a line of the combined format, `seconds` after 3 o'clock. */
export function line(seconds: number, address = '192.0.2.1', request = 'GET / HTTP/1.1', user = '-'): string {
  const iso = new Date(START_MS + 1000 * seconds).toISOString()
  const time = `${iso.slice(8, 10)}/Nov/${iso.slice(0, 4)}:${iso.slice(11, 19)} +0000`
  return `${address} - ${user} [${time}] "${request}" 200 2 "-" "curl/8"\n`
}

/** Returns a line of one client at each of these times. */
export const lines = (...seconds: readonly number[]) => seconds.map((each) => line(each)).join('')

/** Writes a file, and returns its name. */
export function write(name: string, contents: string | Buffer): string {
  writeFileSync(name, contents)
  return name
}

/** Replays logs. Returns the report. */
export async function replay(...args: readonly string[]): Promise<Report> {
  return JSON.parse(await mustRun('replay', ...args, '--json'))
}

/** Replays a log of these contents. */
export function replayLog(contents: string | Buffer, ...args: readonly string[]): Promise<Report> {
  return replay(write('access.log', contents), ...args)
}
