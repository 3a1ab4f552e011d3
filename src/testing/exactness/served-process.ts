import type { ChildProcess } from 'node:child_process'
import { wrongKind } from '../../util/validate.js'
import type { Message, Orders } from './protocol.js'

const GRACE_MS = 2000
const OUTPUT_MS = 200
const OUTPUT_LENGTH = 4000

/** A process that serves a store. */
export interface ServedProcess {
  /** Rejects when the process fails, or ends before `end` is called. */
  readonly failed: Promise<never>
  /** Resolves once the process has called `serveStore`. */
  readonly ready: Promise<void>
  request<N extends keyof Orders>(name: N, order: Orders[N]['order']): Promise<Orders[N]['reply']>
  /** What it has to do and has not done; `undefined` where that is nothing. */
  pending(): string | undefined
  /** Has it exit, and kills it if it does not. Resolves when it has. */
  end(): Promise<void>
  /** Kills it. Resolves when it has exited. */
  kill(): Promise<void>
}

/** Takes charge of a process that `startProcess` returned; `name` is for messages. */
export function servedProcess(child: ChildProcess, name: string): ServedProcess {
  if (typeof child?.send !== 'function' || typeof child.disconnect !== 'function') {
    child?.kill?.()
    const must = 'a function that returns a process with an IPC channel'
    throw wrongKind('storeExactness', 'startProcess', must, child, "Use fork('./store-process.js').")
  }
  const who = `${name} (pid ${child.pid})`
  const replies = new Map<number, (reply: unknown) => void>()
  const stderr = tailOf(child)
  let requests = 0
  let isReady = false
  let isEnding = false
  let doing = ''

  const ready = withResolver<void>()
  const failed = withResolver<never>()
  const exited = withResolver<void>()
  failed.promise.catch(() => undefined) // it may fail while nobody waits

  child.on('message', (message: Message) => {
    if (message?.headgate === 'ready') {
      isReady = true
      ready.resolve()
    } else if (message?.headgate === 'reply') replies.get(message.id)?.(message.reply)
    else if (message?.headgate === 'failure') failed.reject(new Error(`${who} failed:\n${message.text}`))
  })
  child.once('error', (cause) =>
    failed.reject(new Error(`${name} could not be started or reached`, { cause })),
  )
  child.once('exit', (code, signal) => {
    exited.resolve()
    if (isEnding) return
    const how = signal ? `was ended by ${signal}` : `exited with code ${code}`
    const when = isReady ? 'before the test was done with it' : 'before it called serveStore(store)'
    const fail = () => failed.reject(new Error(`${who} ${how} ${when}.${stderr()}`))
    child.once('close', fail)
    setTimeout(fail, OUTPUT_MS).unref() // another process may keep its output open
  })

  async function kill(): Promise<void> {
    isEnding = true
    if (child.pid === undefined) return // it never started
    if (child.exitCode === null && child.signalCode === null) child.kill('SIGKILL')
    await exited.promise
  }

  return {
    failed: failed.promise,
    ready: ready.promise,
    request(order, body) {
      const id = ++requests
      doing = order
      return new Promise((resolve) => {
        replies.set(id, (reply) => {
          replies.delete(id)
          resolve(reply as never)
        })
        child.send({ headgate: order, id, order: body }, () => undefined) // an error shows in its exit
      })
    },
    pending() {
      if (!isReady) return `${who} has not called serveStore(store)`
      return replies.size > 0
        ? `${who} has not done a ${doing}: a call of the store does not settle`
        : undefined
    },
    async end() {
      isEnding = true
      if (child.connected) child.disconnect()
      const timer = setTimeout(() => void kill(), GRACE_MS)
      if (child.pid !== undefined) await exited.promise
      clearTimeout(timer)
    },
    kill,
  }
}

/** Returns a function that returns the end of what a process wrote to a piped stderr. */
function tailOf({ stdout, stderr }: ChildProcess): () => string {
  let tail = ''
  stdout?.resume()
  stderr?.on('data', (chunk) => {
    tail = (tail + chunk).slice(-OUTPUT_LENGTH)
  })
  return () => (tail ? ` It wrote:\n${tail}` : '')
}

interface Resolver<T> {
  readonly promise: Promise<T>
  readonly resolve: (value: T) => void
  readonly reject: (error: Error) => void
}

function withResolver<T>(): Resolver<T> {
  let resolve!: Resolver<T>['resolve']
  let reject!: Resolver<T>['reject']
  const promise = new Promise<T>((onValue, onError) => {
    resolve = onValue
    reject = onError
  })
  return { promise, resolve, reject }
}
