import type { ChildProcess } from 'node:child_process'

const OUTPUT_MS = 200
const OUTPUT_LENGTH = 4000

const NOT_PIPED = ' Its error is on stderr; fork(file, { silent: true }) would have it in this message.'
const written = (tail: string) => (tail ? ` It wrote:\n${tail}` : ' It wrote nothing to stderr.')

export interface Exit {
  readonly isClean: boolean
  /** Such as `exited with code 1`. */
  readonly how: string
  /** A sentence for messages: the end of what it wrote to a piped stderr, or where to look for it. */
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
      const done = () =>
        resolve({ isClean: code === 0, how, output: child.stderr ? written(tail) : NOT_PIPED })
      child.once('close', done)
      setTimeout(done, OUTPUT_MS) // another process may keep its output open
    })
  })
}
