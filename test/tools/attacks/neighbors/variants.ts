/** What can hide a guard, or change how a framework reports its route; with real packages. */
export interface Variant {
  readonly name: string
  readonly framework:
    | 'express'
    | 'express4'
    | 'koa'
    | 'fastify'
    | 'hono'
    | 'node:http'
    | 'nest'
    | 'nest on fastify'
  /** What patches the modules of the process before they are loaded. */
  readonly agent?: keyof typeof AGENTS
  /** How the application is laid out. Default: a router or a plugin for each prefix. */
  readonly layout?:
    | 'sub-applications'
    | 'login apart'
    | 'promise router'
    | 'async errors'
    | 'wrapped'
    | 'composed'
    | 'autoload'
  /** Whether every change runs it, or only the long tests. */
  readonly isShort?: true
}

/** The packages of the agents, at versions that run on Node.js 20. */
export const AGENTS = {
  newrelic: { newrelic: '12.25.1' },
  opentelemetry: {
    '@opentelemetry/instrumentation': '0.223.0',
    '@opentelemetry/instrumentation-express': '0.71.1',
    '@opentelemetry/instrumentation-http': '0.223.0',
    '@opentelemetry/instrumentation-koa': '0.71.0',
    '@opentelemetry/instrumentation-nestjs-core': '0.70.0',
    '@opentelemetry/sdk-trace-node': '2.12.1',
  },
  'dd-trace': { 'dd-trace': '5.132.0' },
  '@fastify/otel': { '@fastify/otel': '0.21.2' },
  '@hono/otel': { '@hono/otel': '1.1.2' },
  sentry: { '@sentry/node': '9.47.2' },
} as const

/** Agents that are as large as all others together. Only the long tests fetch them. */
const LARGE: readonly string[] = ['dd-trace', 'sentry']

export const VARIANTS: readonly Variant[] = [
  { name: 'express-async-errors', framework: 'express4', layout: 'async errors' },
  { name: 'express-promise-router', framework: 'express4', layout: 'promise router' },
  { name: 'Express, wrapped guards', framework: 'express', layout: 'wrapped' },
  { name: 'Express 4, wrapped guards', framework: 'express4', layout: 'wrapped' },
  { name: 'Express, sub-applications', framework: 'express', layout: 'sub-applications' },
  { name: 'Express 4, sub-applications', framework: 'express4', layout: 'sub-applications' },
  { name: 'Express, login in a sub-application', framework: 'express', layout: 'login apart', isShort: true },
  { name: 'Express 4, login in a sub-application', framework: 'express4', layout: 'login apart' },
  { name: 'Express with New Relic', framework: 'express', agent: 'newrelic', isShort: true },
  { name: 'Express 4 with New Relic', framework: 'express4', agent: 'newrelic' },
  { name: 'Express with OpenTelemetry', framework: 'express', agent: 'opentelemetry' },
  { name: 'Express 4 with OpenTelemetry', framework: 'express4', agent: 'opentelemetry' },
  { name: 'Express with dd-trace', framework: 'express', agent: 'dd-trace' },
  { name: 'Express 4 with dd-trace', framework: 'express4', agent: 'dd-trace' },
  { name: 'Express with Sentry', framework: 'express', agent: 'sentry' },
  {
    name: 'Express with OpenTelemetry, sub-applications',
    framework: 'express',
    agent: 'opentelemetry',
    layout: 'sub-applications',
  },
  { name: 'Koa', framework: 'koa' },
  { name: 'Koa, wrapped guards', framework: 'koa', layout: 'wrapped' },
  { name: 'Koa, composed', framework: 'koa', layout: 'composed' },
  { name: 'koa-mount', framework: 'koa', layout: 'sub-applications' },
  { name: 'Koa with New Relic', framework: 'koa', agent: 'newrelic' },
  { name: 'Koa with OpenTelemetry', framework: 'koa', agent: 'opentelemetry', isShort: true },
  { name: 'Koa with dd-trace', framework: 'koa', agent: 'dd-trace' },
  { name: 'Koa with Sentry', framework: 'koa', agent: 'sentry' },
  { name: 'Fastify, prefix', framework: 'fastify' },
  { name: 'Fastify, @fastify/autoload', framework: 'fastify', layout: 'autoload', isShort: true },
  { name: 'Fastify, wrapped guards', framework: 'fastify', layout: 'wrapped' },
  { name: 'Fastify with @fastify/otel', framework: 'fastify', agent: '@fastify/otel' },
  { name: 'Fastify with Sentry', framework: 'fastify', agent: 'sentry' },
  { name: 'Fastify with New Relic', framework: 'fastify', agent: 'newrelic' },
  { name: 'Fastify with dd-trace', framework: 'fastify', agent: 'dd-trace' },
  { name: 'Hono', framework: 'hono' },
  { name: 'Hono with New Relic', framework: 'hono', agent: 'newrelic' },
  { name: 'Hono with OpenTelemetry', framework: 'hono', agent: 'opentelemetry' },
  { name: 'Hono with @hono/otel', framework: 'hono', agent: '@hono/otel', isShort: true },
  { name: 'Hono with dd-trace', framework: 'hono', agent: 'dd-trace' },
  { name: 'Hono with Sentry', framework: 'hono', agent: 'sentry' },
  { name: 'node:http with New Relic', framework: 'node:http', agent: 'newrelic' },
  { name: 'node:http with OpenTelemetry', framework: 'node:http', agent: 'opentelemetry', isShort: true },
  { name: 'node:http with dd-trace', framework: 'node:http', agent: 'dd-trace' },
  { name: 'node:http with Sentry', framework: 'node:http', agent: 'sentry' },
  { name: 'Nest', framework: 'nest' },
  { name: 'Nest with New Relic', framework: 'nest', agent: 'newrelic' },
  { name: 'Nest with OpenTelemetry', framework: 'nest', agent: 'opentelemetry', isShort: true },
  { name: 'Nest with dd-trace', framework: 'nest', agent: 'dd-trace' },
  { name: 'Nest with Sentry', framework: 'nest', agent: 'sentry' },
  { name: 'Nest on Fastify with New Relic', framework: 'nest on fastify', agent: 'newrelic' },
  { name: 'Nest on Fastify with OpenTelemetry', framework: 'nest on fastify', agent: 'opentelemetry' },
  { name: 'Nest on Fastify with dd-trace', framework: 'nest on fastify', agent: 'dd-trace' },
  { name: 'Nest on Fastify with Sentry', framework: 'nest on fastify', agent: 'sentry' },
]

const FRAMEWORKS: Readonly<Record<string, string>> = {
  '@koa/router': '15.7.0',
  '@fastify/autoload': '6.5.0',
  '@hono/node-server': '2.1.9',
  '@nestjs/common': '11.2.8', // the last major that is CommonJS, whose modules agents patch
  '@nestjs/core': '11.2.8',
  '@nestjs/platform-express': '11.2.8',
  '@nestjs/platform-fastify': '11.2.8',
  '@opentelemetry/api': '1.9.1',
  express: '4.22.3', // a peer of the two packages below
  express5: 'npm:express@5.3.0',
  'express-async-errors': '3.1.1',
  'express-promise-router': '4.1.1',
  fastify: '5.12.8',
  hono: '4.13.19',
  koa: '3.3.0',
  'koa-compose': '4.2.0',
  'koa-mount': '4.2.0',
  'reflect-metadata': '0.2.2',
  rxjs: '7.8.2',
}

/** Returns everything that a variant loads, and the name of its folder: agents patch what lies beside them. */
export function packagesOf({ agent }: Variant): {
  folder: string
  packages: Record<string, string>
} {
  const isLarge = agent !== undefined && LARGE.includes(agent)
  const agents = Object.entries(AGENTS).filter(([name]) => isLarge || !LARGE.includes(name))
  const packages = Object.assign({}, FRAMEWORKS, ...agents.map(([, each]) => each))
  return { folder: isLarge ? 'neighbors' : 'small-neighbors', packages }
}
