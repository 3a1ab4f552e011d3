import type { AGENTS } from './variants.js'

/** What the agents export: functions, and classes. None of their types is installed here. */
type Exports<Name extends string> = Readonly<
  Record<Name, new (options?: object) => { enable(): void; register(): void }>
>

interface Initialized {
  init(options: object): void
}

type Load = <T>(name: string) => T

/**
 * Starts an agent before the modules that it patches are loaded. None reaches a server: those that cannot be
 * told to send nothing are given a closed port of this machine.
 */
export function startAgent(agent: keyof typeof AGENTS | undefined, load: Load): void {
  if (agent !== undefined) STARTS[agent](load)
}

const STARTS: Record<keyof typeof AGENTS, (load: Load) => void> = {
  newrelic(load) {
    Object.assign(process.env, {
      NEW_RELIC_APP_NAME: 'neighbors',
      NEW_RELIC_ENABLED: 'true',
      NEW_RELIC_HOST: '127.0.0.1',
      NEW_RELIC_LICENSE_KEY: '0'.repeat(40),
      NEW_RELIC_LOG_ENABLED: 'false',
      NEW_RELIC_NO_CONFIG_FILE: 'true',
      NEW_RELIC_PORT: '1',
    })
    load('newrelic')
  },
  opentelemetry(load) {
    startTracing(load)
    const { registerInstrumentations } = load<{ registerInstrumentations(options: object): void }>(
      '@opentelemetry/instrumentation',
    )
    registerInstrumentations({
      instrumentations: [
        create(load, '@opentelemetry/instrumentation-http', 'HttpInstrumentation'),
        create(load, '@opentelemetry/instrumentation-express', 'ExpressInstrumentation'),
        create(load, '@opentelemetry/instrumentation-koa', 'KoaInstrumentation'),
        create(load, '@opentelemetry/instrumentation-nestjs-core', 'NestInstrumentation'),
      ],
    })
  },
  'dd-trace'(load) {
    Object.assign(process.env, {
      DD_CRASHTRACKING_ENABLED: 'false',
      DD_INSTRUMENTATION_TELEMETRY_ENABLED: 'false',
      DD_REMOTE_CONFIGURATION_ENABLED: 'false',
      DD_TRACE_AGENT_URL: 'http://127.0.0.1:1',
    })
    load<Initialized>('dd-trace').init({ startupLogs: false })
  },
  '@fastify/otel'(load) {
    startTracing(load)
    create(load, '@fastify/otel', 'FastifyOtelInstrumentation', { registerOnInitialization: true }).enable()
  },
  '@hono/otel': startTracing, // the rest is a middleware
  sentry(load) {
    const transport = () => ({ send: async () => ({}), flush: async () => true })
    load<Initialized>('@sentry/node').init({
      dsn: 'http://key@127.0.0.1:1/1',
      tracesSampleRate: 1,
      transport,
    })
  },
}

/** Creates spans, and exports none. */
function startTracing(load: Load): void {
  create(load, '@opentelemetry/sdk-trace-node', 'NodeTracerProvider').register()
}

function create<Name extends string>(load: Load, module: string, name: Name, options?: object) {
  const { [name]: Class } = load<Exports<Name>>(module)
  return new Class(options)
}
