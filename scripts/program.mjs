// Starts a program of examples/ that serves a page, for scripts that take pictures of it.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chromium } from 'playwright-core'

export const PASSWORD = 'pictures'

/** Starts the program on a free port. Returns the URL that it prints, and a function that ends it. */
export async function startProgram(path) {
  const server = spawn(process.execPath, ['--import', 'tsx', path], {
    env: { ...process.env, PORT: '0', PASSWORD },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const [printed] = await once(server.stdout, 'data')
  const [url] = /http:\/\/(?:localhost|127\.0\.0\.1):\d+/.exec(printed)
  return { url, stop: () => server.kill() }
}

/** Launches Chromium: /usr/bin/chromium, or the one that CHROMIUM_PATH names. */
export function launchChromium() {
  const executablePath = process.env.CHROMIUM_PATH ?? '/usr/bin/chromium'
  return chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-gpu'] })
}
