import { consecutiveKind, LimitsObject, limitsObject, type ObjectContext } from 'headgate/durable-objects'

/** What an object was billed for since it was started. */
export interface Usage {
  rowsRead: number
  rowsWritten: number
}

/** The time of all objects; `undefined` for the real one. They share the isolate of the first Worker. */
export const testClock: { now?: (() => number) | undefined } = {}

interface TestedContext extends ObjectContext {
  abort(reason: string): void
  readonly storage: ObjectContext['storage'] & { deleteAlarm(): Promise<void> }
}

/** The object as users export it, with a clock and faults for tests. */
export class TestedObject extends LimitsObject {
  readonly #context: TestedContext
  readonly #usage: Usage

  constructor(context: TestedContext) {
    const usage = { rowsRead: 0, rowsWritten: 0 }
    super({ storage: counted(context.storage, usage) })
    this.#context = context
    this.#usage = usage
  }

  protected override now(): number {
    return testClock.now?.() ?? super.now()
  }

  override async fetch(request: Request): Promise<Response> {
    switch (new URL(request.url).pathname) {
      case '/abort':
        this.#context.abort('aborted by a test')
        throw new Error('never reached')
      case '/alarm':
        return Response.json(await this.#context.storage.getAlarm())
      case '/sweep':
        await this.#context.storage.deleteAlarm() // as if it had gone off
        await this.alarm()
        return Response.json(this.#usage)
      case '/usage':
        return Response.json(this.#usage)
      case '/clients': {
        const [row] = this.#context.storage.sql.exec('SELECT count(*) AS clients FROM headgate').toArray()
        return Response.json(row?.clients)
      }
      default:
        return super.fetch(request)
    }
  }
}

/** An object with the code of one kind of policy. */
export class FewKinds extends limitsObject(consecutiveKind) {}

/** Returns a storage that adds what it is billed for to a usage. An alarm that is set is billed as a row. */
function counted(storage: ObjectContext['storage'], usage: Usage): ObjectContext['storage'] {
  return {
    sql: {
      exec(sql, ...values) {
        const cursor = storage.sql.exec(sql, ...values) as ReturnType<typeof storage.sql.exec> & Usage
        const rows = cursor.toArray()
        usage.rowsRead += cursor.rowsRead
        usage.rowsWritten += cursor.rowsWritten
        return { toArray: () => rows }
      },
    },
    transactionSync: (run) => storage.transactionSync(run),
    getAlarm: () => storage.getAlarm(),
    setAlarm(atMs) {
      usage.rowsWritten++
      return storage.setAlarm(atMs)
    },
  }
}
