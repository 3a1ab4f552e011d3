import type { FrameworkContenders } from './contender.js'

const NEVER_REACHED = 10_000_000

/** What clients meet: how many requests a day are allowed, and the status of all after the second. */
export const SCENARIOS = {
  allowed: { limit: NEVER_REACHED, status: 200 },
  denied: { limit: 1, status: 429 },
} as const

export type ScenarioName = keyof typeof SCENARIOS

/** The frameworks by name. */
export const FRAMEWORKS = {
  Fastify: { usual: '@fastify/rate-limit', load: async () => (await import('./fastify.js')).FASTIFY },
  'Nest on Express': {
    usual: '@nestjs/throttler',
    load: async () => (await import('./nest.js')).NEST_EXPRESS,
  },
  'Nest on Fastify': {
    usual: '@nestjs/throttler',
    load: async () => (await import('./nest.js')).NEST_FASTIFY,
  },
  Hono: { usual: 'hono-rate-limiter', load: async () => (await import('./hono.js')).HONO },
  Koa: { usual: 'koa-ratelimit', load: async () => (await import('./koa.js')).KOA },
} as const satisfies Readonly<Record<string, Framework>>

interface Framework {
  /** The limiter that its users usually take. */
  readonly usual: string
  /** Loads nothing of the other frameworks: they would take memory. */
  readonly load: () => Promise<FrameworkContenders>
}

/** What limits the requests of a server: nothing, headgate, or what its users usually take. */
export type Contender = keyof FrameworkContenders
export const CONTENDERS = ['nothing', 'headgate', 'usual'] as const satisfies readonly Contender[]
export type FrameworkName = keyof typeof FRAMEWORKS
