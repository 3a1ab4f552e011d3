import type { Running } from './application.js'

/** Prints the ports of a server for the test that has started this process, and ends with that test. */
export function announce({ port, signalPort }: Running): void {
  process.stdout.write(`${JSON.stringify({ port, signalPort })}\n`)
  process.stdin.on('close', () => process.exit()).resume()
}
