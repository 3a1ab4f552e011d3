import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { PageFigures } from '../../../src/dashboard/figures/shown.js'
import type { Action, Actions } from '../../../src/dashboard/server/actions.js'
import { pageServer } from '../../../src/dashboard/server/page-handler.js'
import type { Body } from '../../../src/dashboard/server/read-change.js'
import type { Sender } from '../../../src/dashboard/server/settings-actions.js'
import { checkChange, readingAnswers } from './answers.js'

/** A page that is served on loopback. */
export interface ServedPage {
  readonly url: string
  /** What was asked of it: the action, and the body. */
  readonly sent: readonly (readonly [action: string, body: object])[]
  close(): Promise<void>
}

/** What visitors may do. */
export interface Visit {
  readonly access?: true | 'view'
  readonly operator?: string
}

/** Serves the page on a free port. */
export async function servePage(figures: PageFigures, visit: Visit = {}, port = 0): Promise<ServedPage> {
  const { access = true, operator } = visit
  const sent: [string, object][] = []
  const page = pageServer<IncomingMessage, ServerResponse>(figures, actionsInto(sent, figures), {
    authorize: () => access,
    ...(operator !== undefined && { operator: () => operator }),
  })
  const server = createServer((req, res) => page.handle(req, res))
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/limits/`,
    sent,
    async close() {
      page.stop()
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

const CHANGES = ['release', 'override', 'save', 'undo', 'start-trial', 'approve-trial', 'stop-trial']

/** Actions that answer as a server does, but change nothing: they are only remembered. */
function actionsInto(sent: [string, object][], figures: PageFigures): Actions {
  const change = (action: string): Action => ({
    isChange: true,
    async run(body: Body, { operator }: Sender) {
      sent.push([action, { ...body, ...(operator !== undefined && { by: operator }) }])
      checkChange(action, body)
      const { limiter, reason, by = operator, durationMs } = body
      const text = `${action} ${JSON.stringify(body.targets ?? '')}`
      const kind = action === 'release' ? 'release' : 'settings'
      figures.record({ kind, text, limiter: String(limiter), by: String(by), reason: String(reason) })
      return { count: 1, ...(typeof durationMs === 'number' && { untilMs: Date.now() + durationMs }) }
    },
  })
  const answers = Object.entries(readingAnswers(figures)).map(([name, answer]): [string, Action] => [
    name,
    { isChange: false, run: async (body) => answer(body) },
  ])
  return new Map([...answers, ...CHANGES.map((name) => [name, change(name)] as const)])
}
