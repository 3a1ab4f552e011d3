/**
 * The codes of all process warnings, which `warnOnce` emits. Each has a heading in docs/troubleshooting.md,
 * which its warning links to.
 */
export const WARNING_CODES = [
  'HEADGATE_CANDIDATE_FAILED',
  'HEADGATE_CREATED_IN_HANDLER',
  'HEADGATE_DASHBOARD_FAILED',
  'HEADGATE_HEADERS_SENT',
  'HEADGATE_KEY_IS_IPV6',
  'HEADGATE_LIMITS_LOST',
  'HEADGATE_LISTENER_FAILED',
  'HEADGATE_LOCKOUT_FAILED',
  'HEADGATE_LOGIN_FIELD',
  'HEADGATE_LOGIN_LIMITS',
  'HEADGATE_LOGIN_PATH',
  'HEADGATE_LOGIN_REDIRECT',
  'HEADGATE_MEMORY_FULL',
  'HEADGATE_NEST_OPTIONS',
  'HEADGATE_NO_ADDRESS',
  'HEADGATE_NO_BODY',
  'HEADGATE_NO_RESPONSE',
  'HEADGATE_OBJECT_AS_KEY',
  'HEADGATE_PURGE_FAILED',
  'HEADGATE_REDIS_NO_ERROR_LISTENER',
  'HEADGATE_REDIS_RESENDS',
  'HEADGATE_REFUND_FAILED',
  'HEADGATE_REFUND_FAILED_IN_STORE',
  'HEADGATE_RENEWAL_FAILED',
  'HEADGATE_RETURN_FAILED',
  'HEADGATE_SETTINGS_FAILED',
  'HEADGATE_STORE_ERROR',
  'HEADGATE_TRUSTS_EVERY_PROXY',
  'HEADGATE_UNREADABLE_ADDRESS',
  'HEADGATE_UNTRUSTED_PROXY',
  'HEADGATE_USAGE_RESET',
] as const

/** The codes of errors that headgate creates itself. They have headings on the same page. */
export const ERROR_CODES = ['HEADGATE_DISCONNECTED'] as const

/** A stable code of a process warning. */
export type WarningCode = (typeof WARNING_CODES)[number]

/** A stable code of an error. */
export type ErrorCode = (typeof ERROR_CODES)[number]
