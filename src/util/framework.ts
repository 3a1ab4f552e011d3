import { type Fields, fieldsOf, isObject } from './values.js'

/** A family of servers whose handlers are called alike. */
export type Framework = 'node' | 'koa' | 'fastify' | 'hono' | 'fetch' | 'nest'

/** What each is called in messages. */
export const FRAMEWORKS: Readonly<Record<Framework, string>> = {
  node: 'Express, Connect or node:http',
  koa: 'Koa',
  fastify: 'Fastify',
  hono: 'Hono',
  fetch: 'a Fetch API server',
  nest: 'NestJS',
}

/**
 * Returns the framework that calls its handlers with this as the first argument; `undefined` for anything
 * else. It is recognized by its shape, since no framework is a dependency.
 */
export function frameworkOf(first: unknown): Framework | undefined {
  if (!isObject(first)) return undefined
  if (isRequest(propertyOf(first, 'req')?.raw)) return 'hono' // first: reading `event` of its context may throw
  if (isRequest(first) || isRequest(first.request) || isRequest(propertyOf(first, 'event')?.request))
    return 'fetch'
  if (hasMethods(first, 'getHandler', 'getClass', 'switchToHttp')) return 'nest'
  if (isFastifyInstance(first) || isObject(propertyOf(first, 'raw')?.headers)) return 'fastify'
  if (['req', 'res', 'request', 'response'].every((name) => isObject(first[name]))) return 'koa'
  return isObject(first.headers) && typeof first.method === 'string' && 'socket' in first ? 'node' : undefined
}

/** Returns whether a value is an application of Fastify, which it calls plugins with. */
export function isFastifyInstance(value: unknown): boolean {
  return isObject(value) && hasMethods(value, 'register', 'addHook')
}

function propertyOf(value: Fields, name: string): Fields | undefined {
  const property = value[name]
  return isObject(property) ? property : undefined
}

export function hasMethods(value: object, ...names: readonly string[]): boolean {
  const fields = fieldsOf(value)
  return names.every((name) => typeof fields[name] === 'function')
}

/** Returns whether a value is like a `Request` of the Fetch standard, of any realm. */
function isRequest(value: unknown): boolean {
  if (!isObject(value) || typeof value.method !== 'string' || typeof value.url !== 'string') return false
  return typeof propertyOf(value, 'headers')?.get === 'function'
}
