import type { ChildProcess } from 'node:child_process'

const OUTPUT_MS = 200
const OUTPUT_LENGTH = 4000

/** How a process ended. */
export interface Exit {
  readonly isClean: boolean
  /** Such as `exited with code 1`. */
  readonly how: string
  /** The end of what it wrote to a piped stderr, for messages. */
  readonly output: string
}

/** Resolves when a process has exited. Reads its piped output, which would else block it. */
export function exitOf(child: ChildProcess): Promise<Exit> {
  let tail = ''
  child.stdout?.resume()
  child.stderr?.on('data', (chunk) => {
    tail = (tail + chunk).slice(-OUTPUT_LENGTH)
  })
  return new Promise((resolve) => {
    child.once('exit', (code, signal) => {
      const how = signal ? `was ended by ${signal}` : `exited with code ${code}`
      const done = () => resolve({ isClean: code === 0, how, output: tail ? ` It wrote:\n${tail}` : '' })
      child.once('close', done)
      setTimeout(done, OUTPUT_MS) // another process may keep its output open
    })
  })
}
