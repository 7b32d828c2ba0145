import { describe, expect, it } from 'vitest';
import { readAudit, readSignatures } from '../../dependencies/audit.js';

const CLEAN = {
  auditReportVersion: 2,
  vulnerabilities: {},
  metadata: { vulnerabilities: { info: 0, low: 0, moderate: 0, high: 0, critical: 0, total: 0 } },
};

/** A report of version 2 with findings, shortened. */
const FOUND = {
  auditReportVersion: 2,
  vulnerabilities: {
    'ftp-srv': { name: 'ftp-srv', severity: 'high', via: ['ip'], effects: [] },
    ip: {
      name: 'ip',
      severity: 'high',
      via: [{ title: 'ip SSRF improper categorization in isPublic', severity: 'high' }],
    },
  },
  metadata: { vulnerabilities: { high: 2, total: 2 } },
};

function printed(value: unknown, stderr = '') {
  return { stdout: JSON.stringify(value), stderr };
}

describe('npm audit', () => {
  it('a report without findings is clean', () => {
    expect(readAudit(printed(CLEAN))).toEqual({ kind: 'clean' });
  });

  it('a report with vulnerabilities fails', () => {
    expect(readAudit(printed(FOUND))).toEqual({
      kind: 'found',
      problems: ['ftp-srv: high: by ip', 'ip: high: ip SSRF improper categorization in isPublic'],
    });
    const counted = { ...CLEAN, metadata: { vulnerabilities: { total: 3 } } };
    expect(readAudit(printed(counted))).toMatchObject({ kind: 'found' });
  });

  it('a registry that does not answer is a third outcome', () => {
    const refused = {
      message:
        '405 Method Not Allowed - POST https://registry.npmjs.org/-/npm/v1/security/advisories/bulk',
      statusCode: 405,
      error: { summary: '', detail: '' },
    };
    expect(readAudit(printed(refused))).toEqual({ kind: 'unanswered', reason: refused.message });
    const log = 'npm warn audit 405\nnpm error audit endpoint returned an error\n';
    expect(readAudit({ stdout: '', stderr: log })).toEqual({
      kind: 'unanswered',
      reason: 'npm error audit endpoint returned an error',
    });
  });

  it.each([
    ['nothing', ''],
    ['no JSON', 'found 0 vulnerabilities'],
    ['an empty object', '{}'],
    ['null', 'null'],
    ['a list', '[]'],
    ['half a report', JSON.stringify({ vulnerabilities: {} })],
    ['a report without a list', JSON.stringify({ metadata: CLEAN.metadata })],
  ])('%s is no answer', (_what, stdout) => {
    expect(readAudit({ stdout, stderr: '' })).toMatchObject({ kind: 'unanswered' });
    expect(readSignatures({ stdout, stderr: '' })).toMatchObject({ kind: 'unanswered' });
  });
});

describe('npm audit signatures', () => {
  it('all signatures verified', () => {
    expect(readSignatures(printed({ invalid: [], missing: [] }))).toEqual({ kind: 'clean' });
  });

  it('wrong and missing signatures', () => {
    const invalid = [{ name: 'a', version: '1.0.0', code: 'EINTEGRITYSIGNATURE' }];
    const missing = [{ name: 'b', version: '2.0.0' }];
    expect(readSignatures(printed({ invalid, missing }))).toEqual({
      kind: 'found',
      problems: ['a@1.0.0: its signature or attestation is wrong', 'b@2.0.0: is not signed'],
    });
  });
});
