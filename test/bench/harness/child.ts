import { type ChildProcess, fork } from 'node:child_process'

/** A fresh process with a contender in it. */
export interface Child {
  readonly process: ChildProcess
  /** Sends a question. Resolves with its answer. One at a time. */
  ask<Answer>(question: unknown): Promise<Answer>
  /** Ends it. Resolves when it has exited, and its connections are closed. */
  end(): Promise<void>
}

type Reply = { readonly answer: unknown } | { readonly error: string }

/** A message of a store whose states are in the parent. It is neither a question nor an answer. */
interface OwnerMessage {
  readonly ownerId: number
}

const isOwnerMessage = (message: unknown): message is OwnerMessage =>
  typeof message === 'object' && message !== null && 'ownerId' in message

/** Starts a module in a process of its own, with this process's flags. `timeoutMs` ends it; 0 never does. */
export function startChild(
  module: URL,
  args: readonly string[],
  heapMb: number,
  timeoutMs = 0,
  execPath = process.execPath,
): Child {
  const execArgv = [...process.execArgv, `--max-old-space-size=${heapMb}`]
  const child = fork(module, args, { execArgv, execPath, timeout: timeoutMs, killSignal: 'SIGKILL' })
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  const end = () => {
    if (child.connected) child.disconnect()
    return exited
  }
  return { process: child, ask: (question) => ask(child, question), end }
}

function ask<Answer>(child: ChildProcess, question: unknown): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const onExit = (code: number | null) => reject(new Error(`A child ended early, with code ${code}.`))
    const onMessage = (reply: Reply | OwnerMessage) => {
      if (isOwnerMessage(reply)) return
      child.off('exit', onExit)
      child.off('message', onMessage)
      if ('error' in reply) reject(new Error(reply.error))
      else resolve(reply.answer as Answer)
    }
    child.once('exit', onExit)
    child.on('message', onMessage)
    child.send(question as object)
  })
}

/**
 * Answers the parent's questions, in the child, until the parent is done. What `reply` throws reaches it.
 */
export function answerQuestions<Question>(reply: (question: Question) => unknown): void {
  process.on('message', async (question) => {
    if (isOwnerMessage(question)) return
    try {
      process.send?.({ answer: await reply(question as Question) })
    } catch (error) {
      process.send?.({ error: error instanceof Error ? error.message : String(error) })
    }
  })
}
