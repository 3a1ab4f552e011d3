import type { Context } from 'hono'
import { peerAddress, viewAsRequest } from '../../keys/request.js'
import { honoRequest } from '../../keys/request-within.js'
import type { Exchange } from '../fetch/exchange.js'
import type { FetchInfo } from '../fetch/options.js'

/** What the adapter knows about a request of Hono. */
export interface HonoInfo<Ctx extends Context> extends FetchInfo {
  readonly context: Ctx
  /** Returns the pattern of the route. Each read makes Hono list all matches, so only `byRoute` calls it. */
  readonly findRoute: () => string | undefined
  readonly findSocket: () => unknown
}

/** Returns the context of an exchange, which is what callbacks are called with. Keys read the exchange. */
export function subjectOf<Ctx extends Context>({ subject }: Exchange<HonoInfo<Ctx>>): Ctx {
  viewAsRequest(subject.context, subject)
  return subject.context
}

export function infoOf<Ctx extends Context>(context: Ctx, body: unknown): HonoInfo<Ctx> {
  const connection = honoRequest(context)
  return {
    context,
    ip: peerAddress(connection),
    body,
    user: context.get('user') ?? context.get('jwtPayload'),
    findRoute: () => routeOf(context),
    findSocket: () => connection?.socket,
    waitUntil(work) {
      try {
        context.executionCtx.waitUntil(work)
      } catch {} // only some runtimes have one: the others go on after the response
    },
  }
}

/** Returns the pattern of the first route that is not middleware: `app.use` and `app.all` have the method ALL. */
function routeOf({ req }: Context): string | undefined {
  const routes = req.matchedRoutes
  return (routes.find(({ method }) => method !== 'ALL') ?? routes.at(-1))?.path
}

const JSON_TYPE = /^application\/([\w.+-]+\+)?json\b/i
const FORM_TYPE = /^(application\/x-www-form-urlencoded|multipart\/form-data)\b/i

/**
 * Returns the parsed JSON or form body; `undefined` if there is none. Also returns `undefined` for a form
 * whose text is JSON: `c.req.json()` accepts any content type, so the handler might read another name than
 * the guard. However a handler reads the body, Hono parses the same bytes.
 */
export async function readBody({ req }: Context): Promise<unknown> {
  if (req.method === 'GET' || req.method === 'HEAD') return undefined
  const type = req.header('content-type') ?? ''
  try {
    await req.arrayBuffer()
    if (JSON_TYPE.test(type)) return await req.json()
    if (FORM_TYPE.test(type) && !isJson(await req.text())) return fieldsOf(await req.formData())
  } catch {} // not what its type says
  return undefined
}

function isJson(text: string): boolean {
  if (!/^\s*[{[]/.test(text)) return false
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

/** Returns the fields of a form. A field that is repeated is an array, which cannot name an account. */
function fieldsOf(form: FormData): Record<string, unknown> {
  const fields: Record<string, unknown> = Object.create(null)
  for (const name of new Set(form.keys())) {
    const values = form.getAll(name)
    fields[name] = values.length === 1 ? values[0] : values
  }
  return fields
}

/** Returns the body if a middleware in front has read it, such as a validator. */
export function cachedBody(c: Context): Promise<unknown> | undefined {
  return Object.keys(c.req.bodyCache).length > 0 ? readBody(c) : undefined
}
