import type { Context } from 'hono'
import { viewAsRequest } from '../../keys/request.js'
import type { Exchange } from '../fetch/exchange.js'
import type { FetchInfo } from '../fetch/options.js'

/** What the adapter knows about a request of Hono. */
export interface HonoInfo<Ctx extends Context> extends FetchInfo {
  readonly context: Ctx
  /** Returns the pattern of the route. Each read makes Hono list all matches, so only `byRoute` calls it. */
  readonly findRoute: () => string | undefined
}

/** Returns the context of an exchange, which is what callbacks are called with. Keys read the exchange. */
export function subjectOf<Ctx extends Context>({ subject }: Exchange<HonoInfo<Ctx>>): Ctx {
  viewAsRequest(subject.context, subject)
  return subject.context
}

export function infoOf<Ctx extends Context>(context: Ctx, body: unknown): HonoInfo<Ctx> {
  return {
    context,
    ip: addressOf(context),
    body,
    user: context.get('user') ?? context.get('jwtPayload'),
    findRoute: () => routeOf(context),
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

/** Where runtimes pass the address to `app.fetch`: Node.js, Deno, AWS Lambda (two formats) and Netlify. */
const ADDRESSES = [
  ['incoming', 'socket', 'remoteAddress'],
  ['remoteAddr', 'hostname'],
  ['requestContext', 'identity', 'sourceIp'],
  ['requestContext', 'http', 'sourceIp'],
  ['context', 'ip'],
] as const

/** Returns the address that a request came from, as the runtime reports it. */
function addressOf({ env, req }: Context): string | undefined {
  const bindings = env?.server ?? env // as Hono's own packages allow
  if (typeof bindings?.requestIP === 'function') return bindings.requestIP(req.raw)?.address // Bun
  if ('cf' in req.raw) return req.header('cf-connecting-ip') // only Workers have `cf`, and set the header
  for (const path of ADDRESSES) {
    const address = path.reduce((value, name) => value?.[name], bindings)
    if (typeof address === 'string') return address
  }
  return undefined
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
