import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'

/** Another process, that answers questions by `answerQuestions`. */
export interface Child {
  /** Sends a question and waits for its answer. One at a time. */
  ask<Answer>(question: object): Promise<Answer>
  end(): void
}

type Reply = { readonly answer: unknown } | { readonly error: string }

/** Starts so many processes of a module, with these arguments. One that has answered a first question is ready. */
export function startChildren(module: string, count: number, args: readonly string[]): Child[] {
  return Array.from({ length: count }, () => {
    const child = fork(module, args, { execArgv: ['--import', 'tsx'] })
    return {
      async ask<Answer>(question: object) {
        child.send(question)
        const reply = (await messageOf(child)) as Reply
        if ('error' in reply) throw new Error(reply.error)
        return reply.answer as Answer
      },
      end() {
        if (child.connected) child.disconnect()
      },
    }
  })
}

async function messageOf(child: ChildProcess): Promise<unknown> {
  const over = new AbortController()
  const ended = once(child, 'exit', over).then(([code]) => {
    throw new Error(`A child ended early, with code ${code}.`)
  })
  try {
    const [message] = await Promise.race([once(child, 'message', over), ended])
    return message
  } finally {
    over.abort()
  }
}
