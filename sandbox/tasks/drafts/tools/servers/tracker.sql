CREATE TABLE tickets (
  ticket TEXT PRIMARY KEY, title TEXT, state TEXT, area TEXT, team TEXT, opened_under TEXT, priority INTEGER
);
CREATE TABLE moves (ticket TEXT, component TEXT, moved_on TEXT, moved_by TEXT);
CREATE TABLE labels (ticket TEXT, label TEXT);
CREATE TABLE links (ticket TEXT, other TEXT, kind TEXT);
INSERT INTO tickets VALUES
  ('{earlier}', 'Say how we work here', 'closed', 'core', 'maintenance', 'C-40', 3),
  ('{ticket}', 'Some tests fail', 'open', 'core', 'maintenance', '{formerly}', 2);
INSERT INTO moves VALUES
  ('{ticket}', '{component}', '2025-02-03', 'triage'),
  ('{earlier}', 'C-40', '2024-05-20', 'triage'),
  ('{ticket}', '{formerly}', '2024-11-18', 'triage');
INSERT INTO labels VALUES ('{ticket}', 'tests'), ('{earlier}', 'process');
INSERT INTO links VALUES ('{ticket}', '{earlier}', 'mentions');
