import { describeCollations } from './collations.js'

describeCollations('utf8mb4_unicode_ci', 'utf8mb4_unicode_520_ci')
