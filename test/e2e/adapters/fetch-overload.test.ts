import type { Server } from 'node:http'
import { createAdaptorServer } from '@hono/node-server'
import type { Decision } from 'headgate'
import { type FetchInfo, type OverloadGuard, type OverloadGuardOptions, overloadGuard } from 'headgate/fetch'
import { limitedAnswer, makeApplication, type Running } from './application.js'
import { overloadCases } from './overload-cases.js'

type Next = () => Promise<Response>
type GuardRequest = (guard: OverloadGuard, request: Request, info: FetchInfo, next: Next) => Promise<Response>

const onDenied = (_subject: unknown, decision: Decision) =>
  new Response(limitedAnswer(decision).text, { status: 529 })

/** As a request comes in through a framework that knows the address. */
const INFO: FetchInfo = { ip: '::1' }

const byHandle: GuardRequest = (guard, request, info, next) => guard.handle(request, info, next)

const byFinish: GuardRequest = async (guard, request, info, next) => {
  const denial = await guard(request, info)
  if (denial !== undefined) return denial
  const response = await next().catch(() => new Response('failed', { status: 500 }))
  return guard.finish(request, response)
}

const startWith = (guardRequest: GuardRequest) => (): Promise<Running> => {
  const application = makeApplication()
  const guards = new Map(
    application.overloads.map(([name, { options, isMountedTwice, isAnsweredByApp }]) => {
      const given = { ...options, ...(isAnsweredByApp && { onDenied }) } as OverloadGuardOptions
      return [`/${name}` as string, { guard: overloadGuard(given), isMountedTwice }] as const
    }),
  )
  async function fetch(request: Request): Promise<Response> {
    const { pathname } = new URL(request.url)
    const found = guards.get(pathname)
    if (found === undefined) return new Response(null, { status: 404 })
    const respond = async () => {
      const { status, text } = await application.handle(pathname.slice(1), request, undefined)
      return new Response(text, { status })
    }
    const once = () => guardRequest(found.guard, request, INFO, respond)
    try {
      return await (found.isMountedTwice ? guardRequest(found.guard, request, INFO, once) : once())
    } catch {
      return new Response('failed', { status: 500 })
    }
  }
  return application.listen(createAdaptorServer({ fetch }) as Server)
}

overloadCases({ name: 'handle of the fetch adapter', start: startWith(byHandle) })
overloadCases({ name: 'finish of the fetch adapter', start: startWith(byFinish) })
