import { spawn } from 'node:child_process'
import { symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { type Bundle, bundle } from '../support/servers/bundle.js'

/** The demo as `npm start` runs it: a process of its own. */
export interface DemoProcess {
  /** What it has printed so far. */
  readonly printed: { out: string; err: string }
  /** Waits until its address is printed, and gives it; undefined if the process ended before. */
  listening(): Promise<string | undefined>
  /** Sends a signal, and waits for the end. */
  stop(signal: NodeJS.Signals): Promise<number | null>
  /** Waits for its end, and gives the code it ended with; null where a signal ended it. */
  readonly ended: Promise<number | null>
}

const ROOT = join(__dirname, '../..')
const FROM_SOURCES = ['--import', 'tsx', 'examples/demo/main.ts']

/** The demo in one file: for tests that start it often, as it is there sooner. */
export async function bundleDemo(): Promise<Bundle> {
  const made = await bundle('examples/demo/main.ts')
  for (const name of ['page', 'policies.ts', 'login.ts', 'outage.ts']) // what it reads from its folder
    await symlink(join(ROOT, 'examples/demo', name), join(made.folder, name))
  return made
}

/**
 * Starts the demo on the port and, where one is given, the server for its limits that the environment
 * variables name: from its sources, as `npm start` does, or from a bundle of them.
 */
export function startDemo(
  { PORT = '0', REDIS_URL = '', MEMCACHED_URL = '', DATABASE_URL = '' },
  bundled?: Bundle,
): DemoProcess {
  const child = spawn(process.execPath, bundled ? [bundled.path] : FROM_SOURCES, {
    cwd: ROOT,
    env: { ...process.env, PORT, REDIS_URL, MEMCACHED_URL, DATABASE_URL },
  })
  const printed = { out: '', err: '' }
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve))
  const listening = new Promise<string | undefined>((resolve) => {
    child.stdout.setEncoding('utf8').on('data', (text) => {
      printed.out += text
      if (printed.out.includes('Ctrl-C stops it.')) resolve(/http:\/\/localhost:\d+/.exec(printed.out)?.[0])
    })
    ended.then(() => resolve(undefined))
  })
  child.stderr.setEncoding('utf8').on('data', (text) => {
    printed.err += text
  })
  return {
    printed,
    ended,
    listening: () => listening,
    stop(signal) {
      child.kill(signal)
      return ended
    },
  }
}
