import { createInterface } from 'node:readline'
import { InputError } from '../failures.js'

/** Returns whether an operator can be asked: questions go to a terminal, and answers come from one. */
export function hasTerminal(): boolean {
  return process.stdin.isTTY === true && process.stderr.isTTY === true
}

/** Asks whether to go on. Rejects with an `InputError` unless the answer is yes. */
export async function confirm(question: string): Promise<void> {
  process.stderr.write(`${question} [y/N] `)
  const answer = await readLine()
  if (!/^y(?:es)?$/i.test(answer.trim())) throw new InputError('nothing was changed')
}

/** Reads a line of the standard input; '' at its end, or if the operator presses Ctrl+C. */
async function readLine(): Promise<string> {
  const lines = createInterface({ input: process.stdin, terminal: false })
  const close = () => lines.close()
  process.once('SIGINT', close)
  const line = await new Promise<string>((resolve) => {
    lines.once('line', resolve)
    lines.once('close', () => resolve(''))
  })
  process.off('SIGINT', close)
  lines.close()
  return line
}
