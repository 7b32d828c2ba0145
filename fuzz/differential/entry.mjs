// A thread does not inherit the hooks through which tsx loads TypeScript.
import { register } from 'tsx/esm/api';

register();
await import('./thread.ts');
