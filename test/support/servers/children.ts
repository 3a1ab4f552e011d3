import { pathToFileURL } from 'node:url'
import { startChild } from '../../bench/harness/child.js'
import { bundle } from './bundle.js'

const HEAP_MB = 1024

/** Processes of one program. */
export interface Children {
  /** Sends each of them a question. Resolves with all answers. */
  ask<Answer>(questionOf: (i: number) => object): Promise<Answer[]>
  /** Ends them. Resolves when they have exited. */
  end(): Promise<void>
}

/**
 * Starts `count` processes of a module that answers by `answerQuestions`. A process is ready once it has
 * answered a first question.
 */
export async function startChildren(
  module: string,
  count: number,
  args: readonly string[],
): Promise<Children> {
  const { path, remove } = await bundle(module)
  const children = Array.from({ length: count }, () => startChild(pathToFileURL(path), args, HEAP_MB))
  return {
    ask: <Answer>(questionOf: (i: number) => object) =>
      Promise.all(children.map((child, i) => child.ask<Answer>(questionOf(i)))),
    async end() {
      for (const child of children) child.end()
      await remove()
    },
  }
}
