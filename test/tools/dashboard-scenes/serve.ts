import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { PageFigures } from '../../../src/dashboard/figures/shown.js'
import type { Actions } from '../../../src/dashboard/server/actions.js'
import { pageServer } from '../../../src/dashboard/server/page-handler.js'
import type { Sender } from '../../../src/dashboard/server/settings-actions.js'

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

/** Serves the page on a free port, with actions that only remember what they were asked for. */
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

function actionsInto(sent: [string, object][], figures: PageFigures): Actions {
  const change = (action: 'release' | 'block') => ({
    isChange: true,
    async run(body: Readonly<Record<string, unknown>>, { operator }: Sender) {
      sent.push([action, { ...body, ...(operator !== undefined && { by: operator }) }])
      const by = operator ?? String(body.by)
      figures.record({ kind: action, text: `${action} ${body.identity}`, limiter: String(body.limiter), by })
      return {}
    },
  })
  const lookup = {
    isChange: false,
    run: async () => ({ found: [{ limiter: 'api', standings: [], longestBlockMs: 3_600_000 }] }),
  }
  const inForce = { isChange: false, run: async () => ({ limiters: [] }) }
  const tuning = { isChange: false, run: async () => ({ proposals: [], trial: null }) }
  return new Map(
    Object.entries({
      lookup,
      'in-force': inForce,
      tuning,
      release: change('release'),
      block: change('block'),
    }),
  )
}
