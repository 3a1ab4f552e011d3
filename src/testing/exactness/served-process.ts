import type { ChildProcess } from 'node:child_process'
import { wrongKind } from '../../util/validate.js'
import type { Message, Orders } from './protocol.js'

const GRACE_MS = 2000

export interface ServedProcess {
  /** Rejects when the process fails, or exits before it should. */
  readonly failed: Promise<never>
  /** Resolves once the process has called `serveStore`. */
  readonly ready: Promise<unknown>
  request<N extends keyof Orders>(name: N, order: Orders[N]['order']): Promise<Orders[N]['reply']>
  /** Returns what it has to do and has not done; `undefined` if that is nothing. */
  pending(): string | undefined
  /** Has it exit, and kills it if it does not. Resolves when it has; rejects if it exits with an error. */
  end(): Promise<void>
  /** Kills it. Resolves when it has exited. */
  kill(): Promise<void>
}

/** What a process is doing, and how an exit meanwhile is reported. */
const EARLY = {
  starting: 'before it called serveStore(store)',
  serving: 'before the test was done with it',
  ending: 'after the test was done with it',
}

/** Takes charge of a process that `startProcess` returned; `name` is for messages. */
export function servedProcess(child: ChildProcess, name: string): ServedProcess {
  checkChannel(child)
  const who = `${name} (pid ${child.pid})`
  const exit = exitOf(child)
  const replies = new Map<number, { readonly order: string; resolve(reply: never): void }>()
  let phase: keyof typeof EARLY | 'killed' = 'starting'
  let requests = 0
  let onReady: (value?: unknown) => void
  let fail: (error: Error) => void
  const ready = new Promise<unknown>((resolve) => {
    onReady = resolve
  })
  const failed = new Promise<never>((_resolve, reject) => {
    fail = reject
  })
  failed.catch(() => undefined) // it may fail while no caller waits

  child.on('message', (message: Message | undefined) => {
    if (message?.headgate === 'ready') {
      phase = 'serving'
      onReady()
    } else if (message?.headgate === 'reply') {
      replies.get(message.id)?.resolve(message.reply as never)
      replies.delete(message.id)
    } else if (message?.headgate === 'failure') fail(new Error(`${who} failed:\n${message.text}`))
  })
  child.once('error', (cause) => fail(new Error(`${name} could not be started or reached`, { cause })))
  exit.then(({ isClean, how, output }) => {
    if (phase === 'killed' || (phase === 'ending' && isClean)) return
    fail(new Error(`${who} ${how} ${EARLY[phase]}.${output}`))
  })

  async function kill(): Promise<void> {
    phase = 'killed'
    if (child.pid === undefined) return // it never started
    if (child.exitCode === null && child.signalCode === null) child.kill('SIGKILL')
    await exit
  }

  return {
    failed,
    ready,
    request: (name, order) =>
      new Promise((resolve) => {
        const id = ++requests
        replies.set(id, { order: name, resolve })
        child.send({ headgate: name, id, order }, () => undefined) // an error shows in its exit
      }),
    pending() {
      if (phase === 'starting') return `${who} has not called serveStore(store)`
      const [waiting] = replies.values()
      return waiting && `${who} has not finished a ${waiting.order}: a call to the store never settled`
    },
    async end() {
      phase = 'ending'
      if (child.connected) child.disconnect()
      const timer = setTimeout(kill, GRACE_MS)
      await exit
      clearTimeout(timer)
      await Promise.race([failed, undefined])
    },
    kill,
  }
}

function checkChannel(child: ChildProcess): void {
  if (typeof child?.send === 'function' && typeof child.disconnect === 'function') return
  child?.kill?.()
  const must = 'a function that returns a process with an IPC channel'
  throw wrongKind('storeExactness', 'startProcess', must, child, "Use fork('./store-process.js').")
}

const OUTPUT_MS = 200
const OUTPUT_LENGTH = 4000

const NOT_PIPED = ' Its error is on stderr. To see it in this message, use fork(file, { silent: true }).'
const outputText = (tail: string) => (tail ? ` It wrote:\n${tail}` : ' It wrote nothing to stderr.')

interface Exit {
  readonly isClean: boolean
  /** Such as `exited with code 1`. */
  readonly how: string
  /** A sentence for messages: the end of what it wrote to a piped stderr, or where to look for it. */
  readonly output: string
}

/** Resolves when a process has exited. Reads its piped output, which would else block it. */
function exitOf(child: ChildProcess): Promise<Exit> {
  let tail = ''
  child.stdout?.resume()
  child.stderr?.on('data', (chunk) => {
    tail = (tail + chunk).slice(-OUTPUT_LENGTH)
  })
  return new Promise((resolve) => {
    child.once('exit', (code, signal) => {
      const how = signal ? `was ended by ${signal}` : `exited with code ${code}`
      const done = () =>
        resolve({ isClean: code === 0, how, output: child.stderr ? outputText(tail) : NOT_PIPED })
      child.once('close', done)
      setTimeout(done, OUTPUT_MS) // another process may keep its output open
    })
  })
}
